import { createHmac } from 'node:crypto';

const hashes = new Map([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
]);

/** What a token is made of. */
export interface TokenParts {
  readonly header?: object;
  readonly claims?: unknown;
  readonly secret: string;
  /** The HMAC that is really used, when the header is to lie about it. */
  readonly hmac?: 'HS256' | 'HS384' | 'HS512';
}

/**
 * Signs a JWT with node:crypto, so that the tests do not trust the library that they test.
 *
 * @param parts - the header (HS256 by default), the claims (none by default) and the secret
 */
export function forgeToken({ header = { alg: 'HS256' }, claims = {}, secret, hmac }: TokenParts): string {
  const method = hmac ?? (header as { alg?: string }).alg ?? '';
  const signingInput = `${encodeJson(header)}.${encodeJson(claims)}`;
  const signature = createHmac(hashes.get(method) ?? 'sha256', secret).update(signingInput);
  return `${signingInput}.${signature.digest('base64url')}`;
}

/**
 * @param token - a JWT
 * @returns its header and claims, unverified
 */
export function decodeToken(token: string): { header: unknown; claims: unknown } {
  const [header = '', claims = ''] = token.split('.');
  return { header: decodeJson(header), claims: decodeJson(claims) };
}

/** @param value - a header or claims */
export function encodeJson(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decodeJson(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
