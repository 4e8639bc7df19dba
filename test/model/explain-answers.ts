import { isDeepStrictEqual } from 'node:util';
import { findOrder, type Interval } from '../support/find-order.ts';
import type { BookRequest } from './book-request.ts';
import { applyRequest, type Catalog, describeCatalog } from './catalog.ts';
import { type Answer, chosenIn } from './client.ts';

/** A request and what it was answered with. */
export interface Exchange extends Interval {
  readonly request: BookRequest;
  readonly answer: Answer;
}

/**
 * Explains the answers that concurrent clients got by some order of their requests. Only which new book got which of
 * the next ids is left open by the specification: an id may be drawn long before its book is stored.
 *
 * @param catalog - the state before
 * @param exchanges - what was asked and answered; the last is a list of what is there afterwards
 * @returns the state after, or `undefined` when no order explains the answers
 */
export function explainAnswers(catalog: Catalog, exchanges: readonly Exchange[]): Catalog | undefined {
  const creates = exchanges.filter(({ request }) => request.type === 'create');
  const keyed = creates.filter(
    ({ request }) => request.type === 'create' && request.key !== undefined,
  ).length;
  const newIds = creates
    .filter(({ answer }) => answer.status === 201 && !answer.headers?.['Idempotency-Replayed'])
    .map(({ answer }) => chosenIn(answer).id ?? 0);
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

function applyExchange(catalog: Catalog, { request, answer }: Exchange): Catalog | undefined {
  const effect = applyRequest(catalog, request, chosenIn(answer));
  const { status, message } = effect.outcome;
  const expected = status === 304 ? null : { status, message, data: effect.data };
  return answer.status === status &&
    isDeepStrictEqual(answer.envelope, expected) &&
    answer.headers?.ETag === effect.tag &&
    answer.headers?.['Idempotency-Replayed'] === (effect.replayed ? 'true' : undefined)
    ? effect.catalog
    : undefined;
}
