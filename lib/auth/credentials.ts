import { hash, timingSafeEqual } from 'node:crypto';
import type { Fields, ValuesOf } from '../fields.ts';

/** The members of a login request (specification 5.1). */
export const loginFields = {
  username: { type: 'string', default: '', description: 'The configured username' },
  password: { type: 'string', default: '', description: 'The configured password' },
} as const satisfies Fields;

/** A username and its password. */
export type Credentials = Readonly<ValuesOf<typeof loginFields>>;

/** Makes the function that compares credentials with the configured pair, in constant time. */
export function createCredentialsMatcher(expected: Credentials): (given: Credentials) => boolean {
  // timingSafeEqual requires buffers of equal length.
  const digest = ({ username, password }: Credentials) =>
    hash('sha256', JSON.stringify([username, password]), 'buffer');
  const expectedDigest = digest(expected);
  return (given) => timingSafeEqual(digest(given), expectedDigest);
}
