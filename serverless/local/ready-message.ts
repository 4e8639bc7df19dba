import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Credentials } from '../../lib/auth/credentials.ts';
import { localSettings } from './local-config.ts';

/**
 * Says how to use the service, with two commands to paste. A password that is not the default is not printed.
 *
 * @param baseUrls - the address for this machine, then those for other machines
 * @param storage - where the books are
 */
export function formatReadyMessage(
  [baseUrl, ...networkUrls]: readonly string[],
  storage: string,
  { username, password }: Credentials,
): string {
  const isDefault = password === localSettings.password.default;
  const shown = { username, password: isDefault ? password : 'YOUR PASSWORD' };
  const login = `'${JSON.stringify(shown).replaceAll("'", "'\\''")}'`; // quoted for the shell
  return `
Book Catalog is ready at ${baseUrl}${networkUrls.map((url) => `\nNetwork: ${url}`).join('')}
Reference: ${baseUrl}/docs
Books: ${storage}
Username: ${username}  Password: ${isDefault ? password : 'the one in AUTH_PASSWORD'}

Try it in another terminal:

  TOKEN=$(curl -s ${baseUrl}/token -d ${login} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/books -H "Authorization: $TOKEN"

Stop it with Ctrl-C.

`;
}

/** @returns the address for this machine, where a browser cannot open `http://0.0.0.0`, then those for other machines */
export function listBaseUrls(host: string, port: number): readonly string[] {
  if (host !== '0.0.0.0' && host !== '::') return [`http://${isIPv6(host) ? `[${host}]` : host}:${port}`];
  const addresses = Object.values(networkInterfaces()).flatMap((ofInterface = []) => ofInterface);
  const external = addresses.filter(({ family, internal }) => family === 'IPv4' && !internal);
  return ['localhost', ...external.map(({ address }) => address)].map((name) => `http://${name}:${port}`);
}
