import type { Credentials } from '../../lib/auth/credentials.ts';

/** Says how to use the service, with two commands to paste. */
export function formatReadyMessage(baseUrl: string, storage: string, credentials: Credentials): string {
  const login = `'${JSON.stringify(credentials).replaceAll("'", "'\\''")}'`; // quoted for the shell
  return `
Book Catalog is ready at ${baseUrl}
Reference: ${baseUrl}/docs
Books: ${storage}
Username: ${credentials.username}  Password: ${credentials.password}

Try it in another terminal:

  TOKEN=$(curl -s ${baseUrl}/token -d ${login} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/books -H "Authorization: $TOKEN"

Stop it with Ctrl-C.

`;
}
