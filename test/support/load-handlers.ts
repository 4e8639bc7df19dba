import { basename } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { vi } from 'vitest';
import { makePattern } from '../../conformance/contract/description.ts';
import type { Envelope } from '../../conformance/http-client.ts';
import { functions } from '../../serverless/functions.ts';
import { testSettings } from './local-service.ts';

/** Sends a request to the function of its route, for example `GET` and `/book/1`; `remainingMs` is its timeout. */
export type Call = Awaited<ReturnType<typeof loadHandlers>>;

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;

const routeOf = ({ event: { method, path } }: (typeof functions)[number]) => `${method} ${path}`;

/**
 * Loads functions like new instances of them, which read the environment and check the table while they load.
 *
 * @param databaseUrl - DB_URL
 * @param routes - methods and resources of those to load; all of them by default
 */
export async function loadHandlers(databaseUrl: string, routes = functions.map(routeOf)) {
  startAnew({ ...testSettings, DB_URL: databaseUrl });
  // Only now: tests of the gateway stream as it does.
  await import('./collect-streams.ts');
  const handlers: Record<string, Handler | undefined> = {};
  for (const definition of functions.filter((each) => routes.includes(routeOf(each)))) {
    const file = basename(definition.handler, '.handler');
    handlers[routeOf(definition)] = (await import(`../../handlers/${file}.ts`)).handler;
  }

  return async (
    httpMethod: string,
    pathAndQuery: string,
    request: Partial<APIGatewayProxyEvent> = {},
    remainingMs?: number,
  ) => {
    const [path = '', query] = pathAndQuery.split('?');
    const queryStringParameters = query === undefined ? null : Object.fromEntries(new URLSearchParams(query));
    const sent = `${httpMethod} ${path}`;
    const route = sent in handlers ? sent : routes.find((each) => makePattern(each).test(sent));
    const handler = handlers[route ?? ''];
    if (route === undefined || handler === undefined) throw new Error(`no function for ${sent}`);
    const resource = route.slice(httpMethod.length + 1);
    const { groups = null } = makePattern(route).exec(sent) ?? {};
    const pathParameters = groups && { ...groups };
    const event = createEvent({ httpMethod, path, resource, pathParameters, queryStringParameters, ...request });
    const response = await handler(event, createContext(remainingMs));
    const { statusCode, headers, body } = response as APIGatewayProxyResult;
    // A 304 has no body.
    const envelope: Envelope = JSON.parse(body === '' ? 'null' : body);
    return { status: statusCode, headers, envelope };
  };
}

/** Gives the modules that are loaded from now on new settings, and loads them anew. */
export function startAnew(settings: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  vi.resetModules();
}

/** Makes the event of a request as API Gateway's proxy integration sends it: a GET without headers, but for `overrides`. */
export function createEvent(overrides: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return {
    httpMethod: 'GET',
    path: '/books',
    resource: '/books',
    headers: {},
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    stageVariables: null,
    body: null,
    isBase64Encoded: false,
    requestContext: {
      requestId: 'gateway-request-id',
      path: overrides.path ?? '/books',
    } as APIGatewayProxyEvent['requestContext'],
    ...overrides,
  };
}

/** Makes the context of an invocation, with what is left of the function's timeout. */
export function createContext(remainingMs = 10_000): Context {
  return { awsRequestId: 'lambda-request-id', getRemainingTimeInMillis: () => remainingMs } as Context;
}
