import type { CatalogClient } from './catalog-client.ts';

/** Enough that a small catalog is searched with one request, few enough that each answer is small. */
const pageLimit = 100;

const firstStep = 1000;

/**
 * Finds the highest id in the catalog with few requests, about two for each doubling of it: whether there are books with
 * higher ids than a given one is a question that GET /books answers.
 *
 * @param client - the catalog
 * @returns the id, or 0 when there are no books
 */
export async function findLastId(client: CatalogClient): Promise<number> {
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  for (let step = 0; low < high; step = Math.max(firstStep, step * 2)) {
    const after = high === Number.POSITIVE_INFINITY ? low + step : Math.floor((low + high) / 2);
    const { books, more } = await client.readPage(Math.min(after, Number.MAX_SAFE_INTEGER), pageLimit);
    const last = books.at(-1);
    if (last === undefined) high = after;
    else if (more) low = last.id;
    else return last.id;
  }
  return low;
}
