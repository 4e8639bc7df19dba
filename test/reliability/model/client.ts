import { expect } from 'vitest';
import { forgeToken } from '../../support/forge-token.ts';
import { type Call, settings } from '../../support/load-handlers.ts';
import type { Access, BookRequest } from './book-request.ts';
import type { Chosen, Effect } from './catalog.ts';

export type TestResponse = Awaited<ReturnType<Call>>;

const tokens: Readonly<Record<Exclude<Access, 'missing'>, string>> = {
  HS256: forgeToken({ secret: settings.SECRET_TOKEN }),
  HS384: forgeToken({ header: { alg: 'HS384' }, secret: settings.SECRET_TOKEN }),
  HS512: forgeToken({ header: { alg: 'HS512' }, secret: settings.SECRET_TOKEN }),
  invalid: forgeToken({ claims: { exp: 1 }, secret: settings.SECRET_TOKEN }),
};

const methods = { create: 'POST', list: 'GET', get: 'GET', update: 'PUT', delete: 'DELETE' } as const;

/**
 * Sends a request to the functions.
 *
 * @param call - the functions
 * @param request - what to ask
 */
export function send(call: Call, request: BookRequest): Promise<TestResponse> {
  const headers = headersOf(request);
  const method = methods[request.type];
  if (request.type === 'list') {
    const { after, limit } = request;
    const parameters = {
      after: String(after),
      ...(limit < Number.POSITIVE_INFINITY && { limit: String(limit) }),
    };
    const requestContext = { path: '/books' } as never;
    return call(method, '/books', { headers, queryStringParameters: parameters, requestContext });
  }
  const path = request.type === 'create' ? '/book' : `/book/${request.id}`;
  if (request.type !== 'create' && request.type !== 'update') return call(method, path, { headers });
  const { text, isBase64Encoded } = request.body;
  return call(method, path, { headers, body: text, isBase64Encoded });
}

function headersOf(request: BookRequest): Record<string, string> {
  const { access, type } = request;
  return {
    ...(access !== 'missing' && { Authorization: tokens[access] }),
    ...(type === 'create' && request.key !== undefined && { 'Idempotency-Key': request.key }),
    ...(type === 'get' && request.precondition && { 'If-None-Match': request.precondition.header }),
    ...((type === 'update' || type === 'delete') &&
      request.precondition && { 'If-Match': request.precondition.header }),
  };
}

/**
 * Takes from a response what the specification leaves to the service.
 *
 * @param response - the response
 */
export function chosenIn({ status, headers, envelope }: TestResponse): Chosen {
  return {
    id: status === 201 ? (envelope.data as { id?: number } | null)?.id : undefined,
    tag: headers?.ETag as string | undefined,
  };
}

/**
 * Writes a response as the model's effect calls for it.
 *
 * @param request - what was asked
 * @param effect - what the model says to it
 */
export function expectedResponse(
  request: BookRequest,
  { outcome, data, nextAfter, tag, replayed }: Effect,
): TestResponse {
  const limit = request.type === 'list' ? request.limit : 0;
  const headers = {
    ...(nextAfter !== undefined && { Link: `</books?limit=${limit}&after=${nextAfter}>; rel="next"` }),
    // The list varies with Accept-Encoding, whatever it says.
    ...(outcome.status === 200 && request.type === 'list' && { Vary: expect.any(String) }),
    ...(tag !== undefined && { ETag: tag }),
    ...(replayed && { 'Idempotency-Replayed': 'true' }),
  };
  if (outcome.status === 304) return { status: 304, headers, envelope: null as never };
  return {
    status: outcome.status,
    headers: { 'Content-Type': 'application/json', ...headers },
    envelope: { ...outcome, data },
  };
}

/**
 * Writes a request for the reader of a failing sequence.
 *
 * @param request - a request, its book chosen or not
 */
export function describeRequest(request: object): string {
  return JSON.stringify(request, (_key, value) =>
    typeof value === 'string' && value.length > 200 ? `${value.slice(0, 10)}… (${value.length})` : value,
  );
}
