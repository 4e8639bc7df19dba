import { type EncodedBody, type Fields, readFields } from '../http/json-body.ts';
import type { Credentials } from './credentials.ts';

/** The members of a login request (specification 5.1). */
export const loginFields = {
  username: { type: 'string', default: '' },
  password: { type: 'string', default: '' },
} as const satisfies Fields;

/**
 * Reads the login request of POST /token. A missing member is the empty string.
 *
 * @param encoded - the request body
 * @returns the credentials, or `undefined` when the body cannot be parsed as a login request
 */
export function parseLogin(encoded: EncodedBody): Credentials | undefined {
  const login = readFields(encoded, loginFields);
  return (
    login && { username: loginFields.username.default, password: loginFields.password.default, ...login }
  );
}
