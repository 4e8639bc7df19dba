import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Book } from '../books/book.ts';
import { CounterMissingError } from '../books/errors.ts';
import { counterKey, type ItemKey, shardOf } from './keys.ts';
import type { QueryPage } from './query-page.ts';
import { parseCounter } from './stored-items.ts';
import { Table } from './table.ts';

/** Shards whose first page is requested ahead. More would take memory and save hardly any time. */
const shardsAhead = 3;

/** Books in a database page of the whole list, half of what Query returns of small ones: several are in memory. */
const maxBooksPerPage = 5_000;

/** Database pages (1 MB) of a part of the list that are held in memory before its end is known. */
const maxHeldPages = 4;

/** A part of the list. */
export interface BookPage {
  /** Chunks of JSON objects with commas between them. */
  readonly books: AsyncIterable<string>;
  /** The id of the last book, when books with higher ids follow. */
  readonly continueAfter?: number | undefined;
}

/** The attributes that a Query returns. "year" is a reserved word of DynamoDB's expressions. */
const bookProjection = { expression: 'id, title, author, #year', names: { '#year': 'year' } };
const idProjection = { expression: 'id', names: {} };

type Projection = typeof bookProjection | typeof idProjection;

/** The books with ids above `after`, up to `last`, at most `limit` of them. */
interface Range {
  readonly after: number;
  readonly last?: number | undefined;
  readonly limit?: number;
}

/**
 * The list of books, in ascending order of their ids, read as text: no objects are made of the books of a whole list.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response, and a
 * {@link CounterMissingError} when the table holds books and no counter.
 */
export class BookList {
  readonly #table: Table;

  /** @param tableName - a table that {@link Table.verify} accepts */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#table = new Table(client, tableName);
  }

  /**
   * Reads all books. Memory does not grow with their number: only the first pages of a few shards are read ahead.
   *
   * Books that are created or deleted meanwhile may or may not be included; every other book is, once.
   *
   * @returns chunks of JSON objects with commas between them, none of them empty
   */
  async *readAll(): AsyncGenerator<string> {
    const ahead = [this.#startQuery(0)];
    const lastShard = await this.#readLastShard();
    for (let shard = 0; shard <= lastShard; shard += 1) {
      let page = ahead.shift() ?? this.#startQuery(shard);
      for (;;) {
        const { items: books, lastEvaluatedKey } = await page;
        // Only now, so that the first books do not wait behind others.
        while (ahead.length < shardsAhead && shard + ahead.length < lastShard) {
          ahead.push(this.#startQuery(shard + 1 + ahead.length));
        }
        if (lastEvaluatedKey) page = this.#startQuery(shard, lastEvaluatedKey);
        if (books !== '') yield books;
        if (!lastEvaluatedKey) break;
      }
    }
  }

  /**
   * Reads the books after an id. It costs what one Query for them costs, unless they lie across shards.
   *
   * Whether more follow is known before the first book is sent. When the books are too large to be held in memory until
   * then, the ids of the rest are read first, which reads the rest twice.
   *
   * @param after - the ids of the books are higher than this
   * @param limit - the maximum number of books
   */
  async readPage(after: number, limit: number): Promise<BookPage> {
    const held: Book[] = [];
    let missing = limit + 1;
    let pages = 0;
    for await (const books of this.#readRange<Book>(bookProjection, { after, limit: missing })) {
      held.push(...books);
      missing -= books.length;
      pages += 1;
      if (pages === maxHeldPages) break;
    }
    const ids = held.map(({ id }) => id);
    if (pages === maxHeldPages && missing > 0) {
      const rest = this.#readRange<Pick<Book, 'id'>>(idProjection, {
        after: ids.at(-1) ?? after,
        limit: missing,
      });
      for await (const books of rest) ids.push(...books.map(({ id }) => id));
    }
    return {
      books: this.#streamPage(held, ids.slice(0, limit)),
      continueAfter: ids.length > limit ? ids[limit - 1] : undefined,
    };
  }

  /** Reads what is not held by id and not by number: other books may have been created in between, or deleted. */
  async *#streamPage(held: readonly Book[], ids: readonly number[]): AsyncGenerator<string> {
    yield toJson(held.slice(0, ids.length));
    const last = ids.at(-1);
    if (last === undefined || ids.length <= held.length) return;
    const wanted = new Set(ids);
    const after = held.at(-1)?.id ?? 0;
    for await (const books of this.#readRange<Book>(bookProjection, { after, last })) {
      yield toJson(books.filter(({ id }) => wanted.has(id)));
    }
  }

  async *#readRange<Element>(
    projection: Projection,
    { after, last, limit = Infinity }: Range,
  ): AsyncGenerator<readonly Element[], void, undefined> {
    let missing = limit;
    let lastShard = last === undefined ? undefined : shardOf(last);
    for (let shard = shardOf(after + 1); shard <= (lastShard ?? shard); shard += 1) {
      let startKey: ItemKey | undefined;
      do {
        const page = await this.#query(shard, projection, { after, last, limit: missing }, startKey);
        const elements: readonly Element[] = JSON.parse(`[${page.items}]`);
        if (elements.length > 0) yield elements;
        missing -= elements.length;
        if (missing === 0) return;
        startKey = page.lastEvaluatedKey;
      } while (startKey !== undefined);
      lastShard ??= await this.#readLastShard();
    }
  }

  /** Starts a Query that is awaited later. A rejection is handled then; this avoids an unhandledRejection. */
  #startQuery(shard: number, startKey?: ItemKey): Promise<QueryPage> {
    const page = this.#query(shard, bookProjection, { after: 0, limit: maxBooksPerPage }, startKey);
    page.catch(() => {});
    return page;
  }

  #query(
    shard: number,
    { expression, names }: Projection,
    { after, last, limit = Infinity }: Range,
    startKey?: ItemKey,
  ): Promise<QueryPage> {
    return this.#table.query({
      // "shard" is a reserved word of DynamoDB's expressions.
      KeyConditionExpression: `#shard = :shard AND id ${last === undefined ? '> :after' : 'BETWEEN :first AND :last'}`,
      ProjectionExpression: expression,
      ExpressionAttributeNames: { '#shard': 'shard', ...names },
      ExpressionAttributeValues: {
        ':shard': shard,
        ...(last === undefined ? { ':after': after } : { ':first': after + 1, ':last': last }),
      },
      ExclusiveStartKey: startKey,
      ...(limit < Infinity && { Limit: limit }),
    });
  }

  /** Without a counter, the list of a table that holds books would end too soon and look complete. */
  async #readLastShard(): Promise<number> {
    const lastId =
      (await this.#readCounter()) ?? ((await this.#table.isEmpty()) ? 0 : await this.#readCounter());
    if (lastId === undefined) throw new CounterMissingError();
    return shardOf(lastId);
  }

  #readCounter(): Promise<number | undefined> {
    return this.#table.get(counterKey, parseCounter);
  }
}

/** The elements of an array of books, without its brackets. */
function toJson(books: readonly Book[]): string {
  return JSON.stringify(books).slice(1, -1);
}
