import { parseSettings } from '../lib/config.ts';
import { settings, text } from '../lib/settings.ts';

const client = { ...settings, baseUrl: { variable: 'BASE_URL', kind: text } } as const;
const { baseUrl, ...credentials } = parseSettings(client, ['baseUrl', 'username', 'password'], process.env);

/** Below the function's timeout, for each of two requests. */
const timeoutMs = 25_000;

/**
 * Does what a client does: logs in, and reads a page of one book. A schedule invokes it (serverless.yml). Without it, a
 * stage without traffic looks healthy.
 */
export const handler = async (): Promise<void> => {
  const { token } = await call('/token', { method: 'POST', body: JSON.stringify(credentials) });
  const books = await call('/books?limit=1', { headers: { Authorization: token } });
  if (!Array.isArray(books)) throw new Error('/books responds without books');
};

/** @returns the `data` of the response @throws when its status is not 200 */
async function call(path: string, request: RequestInit) {
  const response = await fetch(baseUrl + path, { ...request, signal: AbortSignal.timeout(timeoutMs) });
  if (response.status !== 200) throw new Error(`${path} responds with ${response.status}`);
  const { data } = (await response.json()) as { readonly data: { readonly token: string } };
  return data;
}
