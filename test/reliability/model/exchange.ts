import { isDeepStrictEqual } from 'node:util';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { type Call, settings } from '../../support/load-handlers.ts';
import { findOrder, type Interval } from '../find-order.ts';
import { applyRequest, type Catalog, type Chosen, type Effect } from './catalog.ts';
import type { BookRequest } from './requests.ts';

type TestResponse = Awaited<ReturnType<Call>>;

/** A request and its response. */
export interface Exchange extends Interval {
  readonly request: BookRequest;
  readonly response: TestResponse;
}

const secret = settings.SECRET_TOKEN;
const tokens = {
  HS256: forgeToken({ secret }),
  HS384: forgeToken({ header: { alg: 'HS384' }, secret }),
  HS512: forgeToken({ header: { alg: 'HS512' }, secret }),
  invalid: forgeToken({ claims: { exp: 1 }, secret }),
};

const methods = { create: 'POST', list: 'GET', get: 'GET', update: 'PUT', delete: 'DELETE' } as const;

/** Sends a request to the functions. */
export function send(call: Call, request: BookRequest): Promise<TestResponse> {
  const { type, access, id, key, precondition, limit, body } = request;
  const headers: Record<string, string> = access === 'missing' ? {} : { Authorization: tokens[access] };
  const method = methods[type];
  if (type === 'list') {
    const queryStringParameters = { after: String(id), ...(limit < Infinity && { limit: String(limit) }) };
    return call(method, '/books', { headers, queryStringParameters });
  }
  if (type === 'create') {
    if (key !== undefined) headers['Idempotency-Key'] = key;
  } else if (precondition !== undefined) {
    headers[type === 'get' ? 'If-None-Match' : 'If-Match'] = precondition.header;
  }
  const content = { body: body.text, isBase64Encoded: body.isBase64Encoded };
  const path = type === 'create' ? '/book' : `/book/${id}`;
  return call(method, path, { headers, ...((type === 'create' || type === 'update') && content) });
}

/** Reads the choices of the service from a response. */
export function chosenIn({ status, headers, envelope }: TestResponse): Chosen {
  const { id } = (envelope?.data ?? {}) as { readonly id?: number };
  return { id: status === 201 ? id : undefined, tag: headers?.ETag as string | undefined };
}

/** Makes the expected response of an effect. */
export function expectedResponse(
  { type, limit }: BookRequest,
  { outcome, data, nextAfter, tag, replayed }: Effect,
): TestResponse {
  const isNotModified = outcome.status === 304;
  const headers = {
    ...(!isNotModified && { 'Content-Type': 'application/json' }),
    ...(nextAfter !== undefined && { Link: `</books?limit=${limit}&after=${nextAfter}>; rel="next"` }),
    ...(outcome.status === 200 && type === 'list' && { Vary: 'Accept-Encoding' }),
    ...(tag !== undefined && { ETag: tag }),
    ...(outcome.status === 401 && { 'WWW-Authenticate': 'BookCatalog' }),
    ...(tag !== undefined && type === 'get' && { 'Cache-Control': 'private, max-age=0, must-revalidate' }),
    ...(outcome.status === 201 && { Location: `/book/${(data as { id: number }).id}` }),
    ...(replayed && { 'Idempotency-Replayed': 'true' }),
  };
  return {
    status: outcome.status,
    headers,
    envelope: isNotModified ? (null as never) : { ...outcome, data },
  };
}

/**
 * Finds an order of concurrent requests that explains their responses. The specification leaves open which new book gets
 * which of the next ids: an id may be drawn long before its book is stored.
 *
 * @param catalog - the state before
 * @param exchanges - requests and responses; the last are a list of all books and each of them
 * @returns the state after, or `undefined` when no order explains the responses
 */
export function explainResponses(catalog: Catalog, exchanges: readonly Exchange[]): Catalog | undefined {
  const creates = exchanges.filter(({ request }) => request.type === 'create');
  const keyed = creates.filter(({ request }) => request.key !== undefined).length;
  const newIds = creates
    .filter(({ response }) => response.status === 201 && !response.headers?.['Idempotency-Replayed'])
    .map(({ response }) => chosenIn(response).id ?? 0);
  const { lastId, spareIds } = catalog;
  const highestId = lastId + newIds.length + spareIds + keyed;
  if (newIds.some((id) => id <= lastId || id > highestId)) return undefined;
  if (new Set(newIds).size < newIds.length) return undefined;

  const order = findOrder(catalog, exchanges, applyExchange, describeCatalog);
  const after = order?.reduce<Catalog | undefined>(
    (state, exchange) => state && applyExchange(state, exchange),
    catalog,
  );
  return after && { ...after, spareIds: highestId - after.lastId };
}

function applyExchange(catalog: Catalog, { request, response }: Exchange): Catalog | undefined {
  const effect = applyRequest(catalog, request, chosenIn(response));
  return isDeepStrictEqual(response, expectedResponse(request, effect)) ? effect.catalog : undefined;
}

/** Gives a text that only equal states have. */
function describeCatalog({ books, keys }: Catalog): string {
  return JSON.stringify([[...books].sort(([a], [b]) => a - b), [...keys].sort()]);
}
