import type { Credentials } from '../../lib/auth/credentials.ts';

/**
 * Tells a person who started the service what there is and how to use it.
 *
 * @param baseUrl - where it listens
 * @param storage - where the books are
 * @param credentials - what to log in with
 * @returns a text with two command lines that work when they are pasted one after the other, and leave the catalog as it is
 */
export function formatReadyMessage(baseUrl: string, storage: string, credentials: Credentials): string {
  const login = quoteForShell(JSON.stringify(credentials));
  return `
Book Catalog is ready at ${baseUrl}
The reference page is at ${baseUrl}/docs
The books are in ${storage}
Username: ${credentials.username}  Password: ${credentials.password}

Try it in another terminal:

  TOKEN=$(curl -s ${baseUrl}/token -d ${login} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s ${baseUrl}/books -H "Authorization: $TOKEN"

Stop it with Ctrl-C.

`;
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
