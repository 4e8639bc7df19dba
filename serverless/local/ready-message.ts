import { isIPv6 } from 'node:net';
import type { Credentials } from '../../lib/auth/credentials.ts';
import { localSettings } from './local-config.ts';

/** Says how to use the service, with two commands to paste. A password that is not the default is not printed. */
export function formatReadyMessage(baseUrl: string, storage: string, { username, password }: Credentials): string {
  const isDefault = password === localSettings.password.default;
  const shown = { username, password: isDefault ? password : 'YOUR PASSWORD' };
  const login = `'${JSON.stringify(shown).replaceAll("'", "'\\''")}'`; // quoted for the shell
  return `
Book Catalog is ready at ${baseUrl}
Reference: ${baseUrl}/docs
Books: ${storage}
Username: ${username}  Password: ${isDefault ? password : 'the one in AUTH_PASSWORD'}

Try it in another terminal:

  TOKEN=$(curl -s ${baseUrl}/token -d ${login} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/books -H "Authorization: $TOKEN"

Stop it with Ctrl-C.

`;
}

/** @returns the address for a browser on this machine, which cannot open `http://0.0.0.0` */
export function formatBaseUrl(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
