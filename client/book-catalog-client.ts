import createFetchClient, { type Client } from 'openapi-fetch';
import type { paths } from './types.ts';

/** Which service to call, and how to log in there. */
export interface BookCatalogOptions {
  /** May end in a path, such as the stage of an API Gateway. */
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  /** Sends the requests in place of the global `fetch`: through a proxy, for one. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** Calls the service by the paths of openapi.yaml; `data` and `error` of an answer are its envelopes. */
export type BookCatalogClient = Client<paths, 'application/json'>;

/** A minute less than the 15 that a token is valid, so that none expires on its way. */
const renewAfterMs = 14 * 60 * 1000;

/**
 * Makes a client that logs in when it is first needed, sends the token with each request but a login, and fetches a new
 * one before it expires or once one is refused. The request that was refused is not sent again.
 *
 * A call rejects with a {@link LoginError} when the service hands out no token, and with what `fetch` throws when there
 * is no answer.
 *
 * @param options - the service and the credentials
 */
export function createBookCatalogClient({
  baseUrl,
  username,
  password,
  fetch = globalThis.fetch,
}: BookCatalogOptions): BookCatalogClient {
  const client = createFetchClient<paths, 'application/json'>({ baseUrl, fetch });
  let token: Promise<string> | undefined;
  let renewAt = 0;

  const logIn = async (): Promise<string> => {
    const { data, error } = await client.POST('/token', { body: { username, password } });
    if (data === undefined) throw new LoginError(error?.message ?? 'no answer that can be read');
    return data.data.token;
  };

  client.use({
    async onRequest({ request, schemaPath }) {
      if (schemaPath === '/token') return;
      if (token === undefined || Date.now() >= renewAt) {
        renewAt = Date.now() + renewAfterMs;
        token = logIn();
        token.catch(() => {
          token = undefined;
        });
      }
      request.headers.set('Authorization', await token);
    },
    onResponse({ response, schemaPath }) {
      if (schemaPath !== '/token' && response.status === 401) token = undefined;
    },
  });
  return client;
}

/** The service handed out no token; the text is the message of its envelope. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}
