import { createHmac } from 'node:crypto';

/** The parts of a token, unchecked, so that a test can make invalid ones. */
export interface TokenParts {
  readonly header?: object;
  readonly claims?: unknown;
  /** The JSON of the claims, when it is malformed. */
  readonly payload?: string;
  readonly secret: string;
}

/** Signs a JWT with node:crypto, independent of the library under test. */
export function forgeToken({
  header = { alg: 'HS256' },
  claims = {},
  payload = JSON.stringify(claims),
  secret,
}: TokenParts): string {
  const signingInput = `${encodeJson(header)}.${Buffer.from(payload).toString('base64url')}`;
  const { alg } = header as { readonly alg?: string };
  return `${signingInput}.${signInput(signingInput, secret, alg)}`;
}

/** Signs a header and a payload unaltered, with HS256 when `alg` is not an HMAC. */
export function signInput(signingInput: string, secret: string, alg = 'HS256'): string {
  const [, bits = '256'] = /^HS(256|384|512)$/.exec(alg) ?? [];
  return createHmac(`sha${bits}`, secret).update(signingInput).digest('base64url');
}

/** Splits a token into its encoded parts. */
export function splitToken(token: string): { header: string; payload: string; signature: string } {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return { header, payload, signature };
}

/** Reads the header and the claims of a token, unverified. */
export function decodeToken(token: string): { header: unknown; claims: unknown } {
  const { header, payload } = splitToken(token);
  return { header: decodeJson(header), claims: decodeJson(payload) };
}

/** Encodes a header or claims. */
export function encodeJson(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decodeJson(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
