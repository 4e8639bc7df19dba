import { type Book, bookFields } from '../../books/book.ts';
import { type ItemKey, shardOf } from '../table/keys.ts';
import { attributeNames } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';
import { Counter } from './counter.ts';
import { readBooks } from './query-page.ts';

/** Shards whose first page is requested ahead. More would take memory and save hardly any time. */
const shardsAhead = 3;

/** Books in a page of the whole list: half of what a Query can return, because several pages are in memory at once. */
const maxBooksPerPage = 5_000;

const wholeBooks = ['id', ...Object.keys(bookFields)];

/** The books of a list. Each request of the list has all of these conditions. */
export interface Selection {
  /** Only books with higher ids. */
  readonly after: number;
}

/** One page of a shard. */
interface PageQuery extends Selection {
  readonly shard: number;
  readonly startKey?: ItemKey | undefined;
  /** Items, including those of deleted books. */
  readonly limit?: number;
  readonly attributes?: readonly string[];
}

/**
 * The list of books, in ascending order of their ids. Its methods throw {@link StorageUnavailableError} and
 * {@link CounterError}.
 */
export class BookList {
  readonly #table: Table;
  readonly #counter: Counter;
  readonly #maxHeldCharacters: number;

  /**
   * @param maxHeldCharacters - JSON that {@link readPage} may hold when it reads on before the first book is sent. A Query
   *   adds 1 MB
   */
  constructor(table: Table, maxHeldCharacters = 3 * 1024 * 1024) {
    this.#table = table;
    this.#counter = new Counter(table);
    this.#maxHeldCharacters = maxHeldCharacters;
  }

  /**
   * Reads all books of a selection as text. Memory does not grow with their number, because only the first
   * pages of a few shards are read ahead. Books that are created or deleted meanwhile may be included. Every other
   * book is included once.
   */
  async *readAll(selection: Selection): AsyncGenerator<string> {
    let shard = shardOf(selection.after + 1);
    const ahead = [this.#query({ ...selection, shard })];
    const lastShard = await this.#readLastShard();
    for (let page = ahead.shift(); page; page = ahead.shift()) {
      for (;;) {
        const { items: books, nextStart } = await page;
        // After the first page, so that the first books do not wait for others.
        while (ahead.length < shardsAhead && shard + ahead.length < lastShard) {
          ahead.push(this.#query({ ...selection, shard: shard + 1 + ahead.length }));
        }
        // Before the books are taken, so that the database reads on meanwhile.
        if (nextStart) page = this.#query({ ...selection, shard, startKey: nextStart });
        yield books;
        if (!nextStart) break;
      }
      shard += 1;
    }
  }

  /**
   * Reads at most `limit` books of a selection, usually with one Query.
   *
   * The header `Link` is sent before the first book, so it has to be known whether books follow the page. Until then,
   * about `maxHeldCharacters` are held in memory. Of the books after them, the ids are read first, and the books
   * while they are sent.
   *
   * @returns chunks of JSON objects with commas between them, and the id of the last book when others follow
   */
  async readPage(selection: Selection, limit: number) {
    const heldBooks: Book[] = [];
    let heldCharacters = 0;
    for await (const { elements, characters } of this.#read<Book>(selection, wholeBooks, limit + 1)) {
      heldBooks.push(...elements);
      heldCharacters += characters;
      if (heldCharacters > this.#maxHeldCharacters) break;
    }
    const ids = heldBooks.map(({ id }) => id);
    const rest = { ...selection, after: ids.at(-1) ?? selection.after };
    if (heldCharacters > this.#maxHeldCharacters && ids.length <= limit) {
      for await (const { elements } of this.#read<Pick<Book, 'id'>>(rest, ['id'], limit + 1 - ids.length)) {
        ids.push(...elements.map(({ id }) => id));
      }
    }
    return {
      books: this.#streamPage(heldBooks, rest, ids.slice(0, limit)),
      continueAfter: ids.length > limit ? ids[limit - 1] : undefined,
    };
  }

  /** Rereads the books that did not fit in memory, by id rather than by count, which other clients may change. */
  async *#streamPage(heldBooks: readonly Book[], rest: Selection, ids: readonly number[]): AsyncGenerator<string> {
    yield JSON.stringify(heldBooks.slice(0, ids.length)).slice(1, -1); // without brackets
    const missing = ids.slice(heldBooks.length);
    const last = missing.at(-1);
    if (last === undefined) return;
    for await (const { elements: books } of this.#read<Book>(rest, wholeBooks)) {
      yield JSON.stringify(books.filter(({ id }) => missing.includes(id))).slice(1, -1);
      if (books.some(({ id }) => id >= last)) return;
    }
  }

  /** Reads a selection page by page, until `limit` elements are found. */
  async *#read<Element>(selection: Selection, attributes: readonly string[], limit = Infinity) {
    let missing = limit;
    let lastShard: number | undefined;
    for (let shard = shardOf(selection.after + 1); shard <= (lastShard ?? shard); shard += 1) {
      let startKey: ItemKey | undefined;
      let items = Math.min(missing, maxBooksPerPage);
      do {
        const page = await this.#query({ ...selection, shard, startKey, limit: items, attributes });
        const elements: readonly Element[] = JSON.parse(`[${page.items}]`);
        yield { elements, characters: page.items.length };
        missing -= elements.length;
        if (missing <= 0) return;
        // The limit of a Query counts deleted books too. Fourfold, so that a row of deleted books takes few requests.
        items = Math.min(4 * items, maxBooksPerPage);
        startKey = page.nextStart;
      } while (startKey !== undefined);
      lastShard ??= await this.#readLastShard();
    }
  }

  #query({ shard, after, startKey, limit = maxBooksPerPage, attributes = wholeBooks }: PageQuery) {
    const page = this.#table.query(
      {
        KeyConditionExpression: '#shard = :shard AND #id > :after',
        FilterExpression: 'attribute_not_exists(expiresAt)', // deleted books
        ProjectionExpression: attributes.map((name) => `#${name}`).join(),
        ExpressionAttributeNames: attributeNames(['shard', ...attributes]),
        ExpressionAttributeValues: { ':shard': shard, ':after': after },
        ExclusiveStartKey: startKey,
        Limit: limit,
      },
      readBooks,
    );
    page.catch(() => {}); // A page that is read ahead may fail before it is awaited.
    return page;
  }

  async #readLastShard(): Promise<number> {
    return shardOf(await this.#counter.readLastId());
  }
}
