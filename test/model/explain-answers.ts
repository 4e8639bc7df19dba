import { isDeepStrictEqual } from 'node:util';
import type { Book } from '../../lib/books/book.ts';
import { findOrder, type Interval } from '../support/find-order.ts';
import type { Call } from '../support/load-handlers.ts';
import type { BookRequest } from './book-request.ts';
import { applyRequest, type Catalog, describeCatalog } from './catalog.ts';

/** A request and what it was answered with. */
export interface Exchange extends Interval {
  readonly request: BookRequest;
  readonly answer: Awaited<ReturnType<Call>>;
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
  const newIds = exchanges
    .filter(({ request, answer }) => request.type === 'create' && answer.status === 201)
    .map(createdId)
    .sort((a, b) => a - b);
  const expectedIds = newIds.map((_, index) => catalog.lastId + 1 + index);
  if (!isDeepStrictEqual(newIds, expectedIds)) return undefined;

  const order = findOrder(catalog, exchanges, applyExchange, describeCatalog);
  return order?.reduce<Catalog | undefined>(
    (state, exchange) => state && applyExchange(state, exchange),
    catalog,
  );
}

function applyExchange(catalog: Catalog, exchange: Exchange): Catalog | undefined {
  const { request, answer } = exchange;
  const effect = applyRequest(catalog, request, request.type === 'create' ? createdId(exchange) : undefined);
  const expected = { ...effect.outcome, data: effect.data };
  return answer.status === expected.status && isDeepStrictEqual(answer.envelope, expected)
    ? effect.catalog
    : undefined;
}

function createdId({ answer: { envelope } }: Exchange): number {
  return (envelope.data as Book | null)?.id ?? 0;
}
