import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Makes an access key id that nobody can guess: 128 bits. */
export function createAccessKeyId(): string {
  return randomBytes(16).toString('hex');
}

/**
 * Makes the check that a request names an access key id, in constant time. That keeps everybody else out: a page cannot
 * send `Authorization` without a preflight, which is refused, and no other user can read what is sent on loopback. So
 * the signature itself is not verified.
 */
export function createAccessKeyCheck(accessKeyId: string): (request: IncomingMessage) => boolean {
  const start = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/`;
  const digest = (text: string) => hash('sha256', text, 'buffer'); // timingSafeEqual requires equal lengths
  const expected = digest(start);
  return ({ headers: { authorization = '' } }) =>
    timingSafeEqual(digest(authorization.slice(0, start.length)), expected);
}
