/** An address of HTTP with a host and perhaps a path. */
const address = /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i;

/**
 * Checks a base URL at once, so that a wrong one does not look like a lost connection or a missing book later.
 *
 * @returns the URL without slashes at its end
 * @throws {TypeError} when paths cannot follow it. The message does not quote it, because it may have a password.
 */
export function parseBaseUrl(baseUrl: string): string {
  if (!address.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError(
      'the base URL has to be one like http://localhost:8080, without username, password, ?, # and blanks',
    );
  }
  return baseUrl.replace(/\/+$/, '');
}
