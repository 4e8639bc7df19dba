import { hash, timingSafeEqual } from 'node:crypto';

/** A username and its password. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Compares credentials in a time that does not depend on where they differ. Digests make both sides equally long,
 * as timingSafeEqual asks; both pairs are always compared, so that a right username takes no longer than a wrong one.
 *
 * @param given - what the client sent
 * @param expected - the one configured pair
 */
export function matchCredentials(given: Credentials, expected: Credentials): boolean {
  const sameUsername = timingSafeEqual(digest(given.username), digest(expected.username));
  const samePassword = timingSafeEqual(digest(given.password), digest(expected.password));
  return sameUsername && samePassword;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
