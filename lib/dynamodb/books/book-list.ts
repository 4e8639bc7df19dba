import { type Book, bookFields } from '../../books/book.ts';
import { type BookFilter, type BookPredicate, createPredicate } from '../../books/book-filter.ts';
import { shardOf } from '../table/keys.ts';
import { attributeNames } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';
import { readLastId } from './counter.ts';
import { type QueryPage, readBooks } from './query-page.ts';

/** Queries that are under way while books are sent. More would take memory and save hardly any time. */
const queriesAtOnce = 4;

/** Books in a page of the whole list: half of what a Query can return, because several pages are in memory at once. */
const maxBooksPerQuery = 5_000;

/** The most JSON in a page of a list, which is held in memory while a Query adds 1 MB. */
const maxPageBytes = 3 * 1024 * 1024;

const attributes = ['id', ...Object.keys(bookFields)];

/** The books of a list. */
export interface Selection {
  /** Only books with higher ids. */
  readonly after: number;
  readonly filter?: BookFilter;
}

/**
 * The list of books, in ascending order of their ids. Its methods throw {@link StorageUnavailableError} and
 * {@link CounterError}.
 */
export class BookList {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Reads all books of a selection. Memory does not grow with their number, because only a few pages are read ahead.
   * Books that are created or deleted meanwhile may be included. Every other book is included once.
   *
   * @returns chunks of JSON objects with commas between them
   */
  readAll({ after, filter }: Selection): AsyncGenerator<string> {
    return this.#read(after, createPredicate(filter));
  }

  /**
   * Reads books of a selection until there are `limit` of them, or 3 MB of JSON. The header `Link` is sent before the
   * first book, so the page is held in memory until it is known whether others follow.
   *
   * @returns JSON objects with commas between them, and the id of the last one when others follow
   */
  async readPage({ after, filter }: Selection, limit: number) {
    const matches = createPredicate(filter);
    // Without a filter, the next books are the page.
    const pages = matches ? this.#read(after, matches) : this.#read(after, undefined, limit + 1, 1);
    const found: string[] = [];
    let bytes = 0;
    let last: number | undefined;
    for await (const page of pages) {
      for (const book of JSON.parse(`[${page}]`) as readonly Book[]) {
        const json = JSON.stringify(book);
        bytes += Buffer.byteLength(json);
        const isFull = found.length === limit || bytes > maxPageBytes;
        if (isFull && last !== undefined) return { books: found.join(), continueAfter: last };
        found.push(json);
        last = book.id;
      }
    }
    return { books: found.join(), continueAfter: undefined };
  }

  /**
   * Reads the books with higher ids that match, page by page.
   *
   * @param limit - how many books the caller takes
   * @param maxQueries - how many are under way after the first. With one, each begins when the caller has taken the books
   *   before it.
   */
  async *#read(after: number, matches?: BookPredicate, limit = Number.POSITIVE_INFINITY, maxQueries = queriesAtOnce) {
    let remaining = limit;
    let tombstones = 0;
    // The limit of a Query counts tombstones too. It grows with those that were met, so that many in a row take few Queries.
    const query = (shard: number, start: number) =>
      this.#query(shard, start, Math.min(remaining + 3 * tombstones, maxBooksPerQuery), matches);
    let shard = shardOf(after + 1);
    const underWay = [query(shard, after)];
    let lastShard = maxQueries > 1 ? await this.#readLastShard() : undefined;
    const startQueries = async (continueAfter: number | undefined) => {
      if (continueAfter !== undefined) underWay.unshift(query(shardOf(continueAfter), continueAfter));
      while (underWay.length < maxQueries) {
        lastShard ??= await this.#readLastShard();
        if (shard >= lastShard) break;
        shard += 1;
        underWay.push(query(shard, after));
      }
    };
    for (let page = 1; ; page += 1) {
      const next = underWay.shift();
      if (next === undefined) return;
      const { books, continueAfter, ...read } = await next;
      remaining -= read.count;
      tombstones += read.tombstones;
      // The first page may be all that the caller takes.
      const readsAhead = page > 1 && maxQueries > 1;
      if (readsAhead) await startQueries(continueAfter);
      yield books;
      if (!readsAhead) await startQueries(continueAfter);
    }
  }

  #query(shard: number, after: number, limit: number, matches?: BookPredicate): Promise<QueryPage> {
    const page = this.#table.query(
      {
        KeyConditionExpression: '#shard = :shard AND #id > :after',
        FilterExpression: 'attribute_not_exists(expiresAt)', // no tombstones
        ProjectionExpression: attributes.map((name) => `#${name}`).join(),
        ExpressionAttributeNames: attributeNames(['shard', ...attributes]),
        ExpressionAttributeValues: { ':shard': shard, ':after': after },
        Limit: limit,
      },
      (body) => readBooks(body, matches),
    );
    page.catch(() => {}); // A page that is read ahead may fail before it is awaited.
    return page;
  }

  async #readLastShard(): Promise<number> {
    return shardOf(await readLastId(this.#table));
  }
}
