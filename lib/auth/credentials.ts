import { hash, timingSafeEqual } from 'node:crypto';

/** A username and its password. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Makes the function that compares credentials with the configured pair, in a time that does not depend on where they
 * differ. Digests make both sides equally long, as timingSafeEqual asks; both pairs are always compared, so that a
 * right username takes no longer than a wrong one.
 *
 * @param expected - the one configured pair
 * @returns a function that tells whether what the client sent is that pair
 */
export function createCredentialsMatcher(expected: Credentials): (given: Credentials) => boolean {
  const username = digest(expected.username);
  const password = digest(expected.password);
  return (given) => {
    const sameUsername = timingSafeEqual(digest(given.username), username);
    const samePassword = timingSafeEqual(digest(given.password), password);
    return sameUsername && samePassword;
  };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
