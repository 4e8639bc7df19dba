import { createHmac } from 'node:crypto';

/** What a token is made of. Nothing is checked, so that it can be as wrong as a case likes. */
export interface ForgedToken {
  /** JSON of it becomes the header. */
  readonly header?: object;
  /** Text goes as it is, anything else as JSON. */
  readonly payload: unknown;
  readonly secret: string;
  /** The hash that signs, whatever the header says. */
  readonly hash?: 'sha256' | 'sha384' | 'sha512';
}

/**
 * Signs a JSON Web Token with HMAC.
 *
 * @param parts - what it is made of; the header is that of HS256 unless given
 */
export function forgeToken({
  header = { alg: 'HS256', typ: 'JWT' },
  payload,
  secret,
  hash = 'sha256',
}: ForgedToken): string {
  const signingInput = `${encodePart(header)}.${encodePart(payload)}`;
  return `${signingInput}.${createHmac(hash, secret).update(signingInput).digest('base64url')}`;
}

/**
 * Encodes a header or payload.
 *
 * @param part - text goes as it is, anything else as JSON
 */
export function encodePart(part: unknown): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

/**
 * Takes a token apart.
 *
 * @param token - a token
 * @returns its three parts, still encoded
 */
export function splitToken(token: string): { header: string; payload: string; signature: string } {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return { header, payload, signature };
}
