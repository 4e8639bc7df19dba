import { type Book, bookFields } from '../../books/book.ts';
import { type BookFilter, createMatcher, type Matcher } from '../../books/book-filter.ts';
import { shardOf } from '../table/keys.ts';
import { attributeNames } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';
import { Counter } from './counter.ts';
import { type QueryPage, readBooks } from './query-page.ts';

/** Queries that are under way while books are sent. More would take memory and save hardly any time. */
const queriesAhead = 4;

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
  readonly #counter: Counter;

  constructor(table: Table) {
    this.#table = table;
    this.#counter = new Counter(table);
  }

  /**
   * Reads all books of a selection. Memory does not grow with their number, because only a few pages are read ahead.
   * Books that are created or deleted meanwhile may be included. Every other book is included once.
   *
   * @returns chunks of JSON objects with commas between them
   */
  async *readAll({ after, filter }: Selection): AsyncGenerator<string> {
    yield* this.#readAhead(after, createMatcher(filter));
  }

  /**
   * Reads books of a selection until there are `limit` of them, or 3 MB of JSON. The header `Link` is sent before the
   * first book, so the page is held in memory until it is known whether others follow.
   *
   * @returns JSON objects with commas between them, and the id of the last one when others follow
   */
  async readPage({ after, filter }: Selection, limit: number) {
    const matches = createMatcher(filter);
    const found: string[] = [];
    let bytes = 0;
    let last: number | undefined;
    for await (const books of matches ? this.#readMatching(after, matches) : this.#readFew(after, limit + 1)) {
      for (const book of books) {
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

  async *#readMatching(after: number, matches: Matcher): AsyncGenerator<readonly Book[]> {
    for await (const page of this.#readAhead(after, matches)) yield parseBooks(page);
  }

  /** Reads all books with higher ids that match, several Queries at a time. */
  async *#readAhead(after: number, matches: Matcher | undefined): AsyncGenerator<string> {
    let shard = shardOf(after + 1);
    const query = (of: number, start: number) => this.#query(of, start, maxBooksPerQuery, matches);
    const first = query(shard, after);
    const lastShard = await this.#readLastShard();
    const ahead: Promise<QueryPage>[] = [];
    const requestAfter = ({ continueAfter }: QueryPage) => {
      if (continueAfter !== undefined) ahead.unshift(query(shardOf(continueAfter), continueAfter));
      while (ahead.length < queriesAhead && shard < lastShard) {
        shard += 1;
        ahead.push(query(shard, after));
      }
    };
    const firstPage = await first;
    // Before others are requested, because a page of the list may need no more.
    yield firstPage.books;
    requestAfter(firstPage);
    for (let next = ahead.shift(); next; next = ahead.shift()) {
      const page = await next;
      // Before the books are taken, so that the database reads on meanwhile.
      requestAfter(page);
      yield page.books;
    }
  }

  /** Reads books with higher ids, one Query at a time. @param count - after which the caller stops */
  async *#readFew(after: number, count: number): AsyncGenerator<readonly Book[]> {
    let missing = count;
    let lastShard: number | undefined;
    for (let shard = shardOf(after + 1); shard <= (lastShard ?? shard); shard += 1) {
      let limit = missing;
      let continueAfter: number | undefined = after;
      while (continueAfter !== undefined) {
        const page = await this.#query(shard, continueAfter, limit);
        const books = parseBooks(page.books);
        yield books;
        missing -= books.length;
        // The limit of a Query counts deleted books too. It grows, so that many of them in a row take few requests.
        limit = Math.min(4 * limit, maxBooksPerQuery);
        continueAfter = page.continueAfter;
      }
      lastShard ??= await this.#readLastShard();
    }
  }

  #query(shard: number, after: number, limit: number, matches?: Matcher): Promise<QueryPage> {
    const page = this.#table.query(
      {
        KeyConditionExpression: '#shard = :shard AND #id > :after',
        FilterExpression: 'attribute_not_exists(expiresAt)', // deleted books
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
    return shardOf(await this.#counter.readLastId());
  }
}

function parseBooks(page: string): readonly Book[] {
  return JSON.parse(`[${page}]`);
}
