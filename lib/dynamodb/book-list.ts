import { type Book, bookFields } from '../books/book.ts';
import { Counter } from './counter.ts';
import { type ItemKey, shardOf } from './keys.ts';
import { readBooks, readIds } from './query-page.ts';
import { attributeNames } from './stored-items.ts';
import type { Table } from './table.ts';

/** Shards whose first page is requested ahead. More would take memory and save hardly any time. */
const shardsAhead = 3;

/** Books in a page of the whole list: half of what a Query can return, because several pages are in memory at once. */
const maxBooksPerPage = 5_000;

/** Pages of a Query, 1 MB each, that {@link BookList.readPage} holds in memory before the first book is sent. */
const maxHeldPages = 4;

const wholeBooks = ['id', ...Object.keys(bookFields)];

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
   * Reads all books with ids above `after` as text. Memory does not grow with their number, because only the first
   * pages of a few shards are read ahead. Books that are created or deleted meanwhile may be included. Every other
   * book is included once.
   */
  async *readAll(after = 0): AsyncGenerator<string> {
    const firstShard = shardOf(after + 1);
    const ahead = [this.#query(firstShard, undefined, after)];
    const lastShard = await this.#readLastShard();
    for (let shard = firstShard; shard <= lastShard; shard += 1) {
      let page = ahead.shift() ?? this.#query(shard);
      for (;;) {
        const { items: books, lastEvaluatedKey } = await page;
        // After the first page, so that the first books do not wait for others.
        while (ahead.length < shardsAhead && shard + ahead.length < lastShard) {
          ahead.push(this.#query(shard + 1 + ahead.length));
        }
        // Before the books are taken, so that the database reads on meanwhile.
        if (lastEvaluatedKey) page = this.#query(shard, lastEvaluatedKey, after);
        if (books !== '') yield books;
        if (!lastEvaluatedKey) break;
      }
    }
  }

  /**
   * Reads at most `limit` books with ids above `after`, usually with one Query.
   *
   * The header `Link` is sent before the first book, so it has to be known whether books follow the page. Until then,
   * up to {@link maxHeldPages} are held in memory. Of the books after them, the ids are read first, and the books while
   * they are sent.
   *
   * @returns chunks of JSON objects with commas between them, and the id of the last book when others follow
   */
  async readPage(after: number, limit: number) {
    const held: Book[] = [];
    let pages = 0;
    for await (const books of this.#readAfter<Book>(after, wholeBooks, limit + 1)) {
      held.push(...books);
      pages += 1;
      if (pages === maxHeldPages) break;
    }
    const ids = held.map(({ id }) => id);
    if (pages === maxHeldPages && ids.length <= limit) {
      const rest = this.#readAfter<Pick<Book, 'id'>>(ids.at(-1) ?? after, ['id'], limit + 1 - ids.length);
      for await (const books of rest) ids.push(...books.map(({ id }) => id));
    }
    return {
      books: this.#streamPage(held, ids.slice(0, limit)),
      continueAfter: ids.length > limit ? ids[limit - 1] : undefined,
    };
  }

  /** Rereads the books that did not fit in memory, by id rather than by count, which other clients may change. */
  async *#streamPage(held: readonly Book[], ids: readonly number[]): AsyncGenerator<string> {
    yield JSON.stringify(held.slice(0, ids.length)).slice(1, -1); // without brackets
    const last = ids.at(-1);
    if (last === undefined || ids.length <= held.length) return;
    const wanted = new Set(ids);
    for await (const books of this.#readAfter<Book>(held.at(-1)?.id ?? 0, wholeBooks)) {
      yield JSON.stringify(books.filter(({ id }) => wanted.has(id))).slice(1, -1);
      if (books.some(({ id }) => id >= last)) return;
    }
  }

  async *#readAfter<Element>(after: number, attributes: string[], limit = Infinity) {
    let missing = limit;
    let lastShard: number | undefined;
    for (let shard = shardOf(after + 1); shard <= (lastShard ?? shard); shard += 1) {
      let startKey: ItemKey | undefined;
      let items = missing;
      do {
        const page = await this.#query(shard, startKey, after, items, attributes);
        const elements: readonly Element[] = JSON.parse(`[${page.items}]`);
        if (elements.length > 0) yield elements;
        missing -= elements.length;
        if (missing <= 0) return;
        // The limit of a Query counts deleted books too. Fourfold, so that a row of deleted books takes few requests.
        // Not more, because DynamoDB reads it as an integer of 32 bits.
        items = Math.min(4 * items, maxBooksPerPage);
        startKey = page.lastEvaluatedKey;
      } while (startKey !== undefined);
      lastShard ??= await this.#readLastShard();
    }
  }

  #query(shard: number, startKey?: ItemKey, after = 0, limit = maxBooksPerPage, attributes = wholeBooks) {
    const page = this.#table.query(
      {
        KeyConditionExpression: '#shard = :shard AND #id > :after',
        FilterExpression: 'attribute_not_exists(expiresAt)', // deleted books
        ProjectionExpression: attributes.map((name) => `#${name}`).join(),
        ExpressionAttributeNames: attributeNames(['shard', ...attributes]),
        ExpressionAttributeValues: { ':shard': shard, ':after': after },
        ExclusiveStartKey: startKey,
        ...(limit < Infinity && { Limit: limit }),
      },
      attributes === wholeBooks ? readBooks : readIds,
    );
    page.catch(() => {}); // A page that is read ahead may fail before it is awaited.
    return page;
  }

  async #readLastShard(): Promise<number> {
    return shardOf(await this.#counter.readLastId());
  }
}
