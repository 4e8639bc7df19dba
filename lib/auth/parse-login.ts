import { type EncodedBody, readJsonObject } from '../http/json-body.ts';
import { isText } from '../http/well-formed-text.ts';
import type { Credentials } from './credentials.ts';

/**
 * Reads the login request of POST /token. A missing member is the empty string.
 *
 * @param encoded - the request body
 * @returns the credentials, or `undefined` when the body cannot be parsed as a login request
 */
export function parseLogin(encoded: EncodedBody): Credentials | undefined {
  const body = readJsonObject(encoded);
  if (body === undefined) return undefined;
  const username = Object.hasOwn(body, 'username') ? body.username : '';
  const password = Object.hasOwn(body, 'password') ? body.password : '';
  return isText(username) && isText(password) ? { username, password } : undefined;
}
