import { isDeepStrictEqual } from 'node:util';
import { findOrder, type Interval } from '../find-order.ts';
import type { BookRequest } from './book-request.ts';
import { applyRequest, type Catalog, describeCatalog } from './catalog.ts';
import { chosenIn, type TestResponse } from './client.ts';

/** A request and its response. */
export interface Exchange extends Interval {
  readonly request: BookRequest;
  readonly response: TestResponse;
}

/**
 * Explains the responses that concurrent clients got by some order of their requests. Only which new book got which of
 * the next ids is left open by the specification: an id may be drawn long before its book is stored.
 *
 * @param catalog - the state before
 * @param exchanges - requests and responses; the last is a list of what is there afterwards
 * @returns the state after, or `undefined` when no order explains the responses
 */
export function explainResponses(catalog: Catalog, exchanges: readonly Exchange[]): Catalog | undefined {
  const creates = exchanges.filter(({ request }) => request.type === 'create');
  const keyed = creates.filter(
    ({ request }) => request.type === 'create' && request.key !== undefined,
  ).length;
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
  const { status, message } = effect.outcome;
  const expected = status === 304 ? null : { status, message, data: effect.data };
  return response.status === status &&
    isDeepStrictEqual(response.envelope, expected) &&
    response.headers?.ETag === effect.tag &&
    response.headers?.['Idempotency-Replayed'] === (effect.replayed ? 'true' : undefined)
    ? effect.catalog
    : undefined;
}
