import { hash, timingSafeEqual } from 'node:crypto';

/** The members of a login request (specification 5.1). */
export const loginFields = {
  username: { type: 'string', default: '' },
  password: { type: 'string', default: '' },
} as const;

/** A username and its password. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Makes the function that compares credentials with the configured pair in constant time: timingSafeEqual takes digests,
 * which are equally long, and a wrong username does not skip the password.
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
