import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { vi } from 'vitest';
import { createContext, createEvent } from './proxy-event.ts';

/** The settings of the functions that {@link loadHandlers} loads. */
export const settings = {
  SECRET_TOKEN: 'sentinel of the secret, longer than 32 bytes',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: 'sentinel of the password',
};

/** What a client gets to see. */
interface Answer {
  readonly status: number;
  readonly headers: APIGatewayProxyResult['headers'];
  readonly envelope: { readonly status: number; readonly message: string; readonly data: unknown };
}

/**
 * Sends a request to the function of its route.
 *
 * @param method - the HTTP method
 * @param path - the path, for example `/book/1`
 * @param request - headers and body, when there are any
 */
export type Call = (method: string, path: string, request?: Partial<APIGatewayProxyEvent>) => Promise<Answer>;

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/**
 * Loads all functions like new instances of them, which read the environment and check the table while they load.
 *
 * @param databaseUrl - DB_URL
 */
export async function loadHandlers(databaseUrl: string): Promise<Call> {
  for (const [name, value] of Object.entries({ ...settings, DB_URL: databaseUrl })) vi.stubEnv(name, value);
  vi.resetModules();
  const routes: Record<string, Handler> = {
    'POST /token': (await import('../../handlers/create-token.ts')).handler,
    'POST /book': (await import('../../handlers/create-book.ts')).handler,
    'GET /books': (await import('../../handlers/list-books.ts')).handler,
    'GET /book/{id}': (await import('../../handlers/get-book.ts')).handler,
    'PUT /book/{id}': (await import('../../handlers/update-book.ts')).handler,
    'DELETE /book/{id}': (await import('../../handlers/delete-book.ts')).handler,
  };

  return async (httpMethod, path, request = {}) => {
    const id = /^\/book\/(?<id>.*)$/s.exec(path)?.groups?.id;
    const resource = id === undefined ? path : '/book/{id}';
    const pathParameters = id === undefined ? null : { id };
    const handler = routes[`${httpMethod} ${resource}`];
    if (handler === undefined) throw new Error(`no function for ${httpMethod} ${path}`);
    const event = createEvent({ httpMethod, path, resource, pathParameters, ...request });
    const { statusCode, headers, body } = await handler(event, createContext());
    return { status: statusCode, headers, envelope: JSON.parse(body) };
  };
}
