import { type DynamoDBDocumentClient, type QueryCommandInput, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Book } from '../books/book.ts';
import { CounterMissingError } from '../books/errors.ts';
import { translateDynamoDBError } from './errors.ts';
import { counterKey, type ItemKey, shardOf } from './keys.ts';
import { type Page, queryPage } from './query-page.ts';
import { readItem } from './read-item.ts';
import { isCounterItem } from './stored-item.ts';

/** Shards whose first page is requested before the list gets there. More would take memory and hardly time. */
const shardsAhead = 3;

/** Books in a database page of the whole list, a quarter of what Query gives of small ones: several are in memory. */
const maxBooksPerPage = 5_000;

/** Database pages of a part of the list that are held in memory before its end is determined by ids alone: a few MB. */
const maxHeldPages = 4;

/** A part of the list, as `limit` and `after` ask for it. */
export interface BookPage {
  /** The books, ascending by id, as JSON objects with commas between them, some at a time. */
  readonly books: Iterable<string> | AsyncIterable<string>;
  /** The id of the last book, when books with higher ids follow. */
  readonly continueAfter?: number | undefined;
}

/** The attributes that a Query gives. "year" is a reserved word of DynamoDB's expressions. */
const bookProjection = {
  expression: 'id, title, author, #year',
  names: { '#year': 'year' },
  attributesPerItem: 4,
};
const idProjection = { expression: 'id', names: {}, attributesPerItem: 1 };

type Projection = typeof bookProjection | typeof idProjection;

/** Which items of the list are read: those with ids above `after`, up to `last`, at most `limit` of them. */
interface Range {
  readonly after: number;
  readonly last?: number;
  readonly limit?: number;
}

/**
 * The books as a whole, in ascending order of their ids. Reads are strongly consistent.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response, and a
 * {@link CounterMissingError} when the table holds books and no counter.
 */
export class BookList {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  /**
   * @param client - a document client
   * @param tableName - a table that {@link verifyTable} accepts
   */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /**
   * Reads all books. Memory does not grow with their number: nothing is read before it is asked for but the first page of
   * a few shards.
   *
   * Books that are created or deleted meanwhile may or may not be among them; every other book is, once.
   *
   * @returns the books as JSON objects with commas between them, some at a time, never none
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
   * Reads some books after a given id. It costs what one Query for them costs, unless they lie across shards.
   *
   * Whether more follow is known at once, so that it can be said before the books are sent. For books so large that
   * they should not be held in memory until then, that takes a second read of the rest of them.
   *
   * @param after - the books' ids are higher than this
   * @param limit - how many books at most
   */
  async readPage(after: number, limit: number): Promise<BookPage> {
    const books: Book[] = [];
    let pages = 0;
    for await (const page of this.#readRange<Book>(bookProjection, { after, limit: limit + 1 })) {
      books.push(...page);
      pages += 1;
      if (pages === maxHeldPages && books.length < limit) return this.#readLargePage(books, limit);
    }
    const more = books.length > limit;
    return { books: [toJson(books.slice(0, limit))], continueAfter: more ? books[limit - 1]?.id : undefined };
  }

  /** Determines the end of a page of which the first books are held, then reads the rest as it is sent. */
  async #readLargePage(held: readonly Book[], limit: number): Promise<BookPage> {
    const after = held.at(-1)?.id ?? 0;
    const missing = limit - held.length;
    const ids: number[] = [];
    for await (const page of this.#readRange<Pick<Book, 'id'>>(idProjection, { after, limit: missing + 1 })) {
      ids.push(...page.map(({ id }) => id));
    }
    const more = ids.length > missing;
    return {
      books: this.#readRest(held, ids.slice(0, missing)),
      continueAfter: more ? (ids[missing - 1] ?? after) : undefined,
    };
  }

  /** Reads up to the last id and not a number of books: others may have been created in between, or deleted. */
  async *#readRest(held: readonly Book[], ids: readonly number[]): AsyncGenerator<string> {
    yield toJson(held);
    const [after, last] = [held.at(-1)?.id ?? 0, ids.at(-1)];
    if (last === undefined) return;
    const wanted = new Set(ids);
    for await (const page of this.#readRange<Book>(bookProjection, { after, last })) {
      yield toJson(page.filter(({ id }) => wanted.has(id)));
    }
  }

  async *#readRange<Element>(
    projection: Projection,
    { after, last, limit = Infinity }: Range,
  ): AsyncGenerator<readonly Element[], void, undefined> {
    let left = limit;
    let lastShard = last === undefined ? undefined : shardOf(last);
    for (let shard = shardOf(after + 1); shard <= (lastShard ?? shard); shard += 1) {
      let startKey: ItemKey | undefined;
      do {
        const options = { ExclusiveStartKey: startKey, ...(left < Infinity && { Limit: left }) };
        const page = await this.#query(shard, projection, { after, last }, options);
        const elements: readonly Element[] = JSON.parse(`[${page.items}]`);
        if (elements.length > 0) yield elements;
        left -= elements.length;
        if (left === 0) return;
        startKey = page.lastEvaluatedKey;
      } while (startKey !== undefined);
      lastShard ??= await this.#readLastShard();
    }
  }

  /** Starts a Query that is awaited later. A rejection is handled then; this avoids an unhandledRejection. */
  #startQuery(shard: number, startKey?: ItemKey): Promise<Page> {
    const options = { ExclusiveStartKey: startKey, Limit: maxBooksPerPage };
    const page = this.#query(shard, bookProjection, { after: 0 }, options);
    page.catch(() => {});
    return page;
  }

  #query(
    shard: number,
    { expression, names, attributesPerItem }: Projection,
    { after, last }: { after: number; last?: number | undefined },
    options: Pick<QueryCommandInput, 'ExclusiveStartKey' | 'Limit'>,
  ): Promise<Page> {
    const input = {
      TableName: this.#tableName,
      // "shard" is a reserved word of DynamoDB's expressions.
      KeyConditionExpression: `#shard = :shard AND ${last === undefined ? 'id > :after' : 'id BETWEEN :first AND :last'}`,
      ProjectionExpression: expression,
      ExpressionAttributeNames: { '#shard': 'shard', ...names },
      ExpressionAttributeValues: {
        ':shard': shard,
        ...(last === undefined ? { ':after': after } : { ':first': after + 1, ':last': last }),
      },
      ConsistentRead: true,
      ...options,
    };
    return queryPage(this.#client, input, attributesPerItem);
  }

  /** Without a counter, the list of a table that holds books would end too soon and look complete. */
  async #readLastShard(): Promise<number> {
    const counter =
      (await this.#readCounter()) ?? ((await this.#isEmpty()) ? { lastId: 0 } : await this.#readCounter());
    if (counter === undefined) throw new CounterMissingError();
    return shardOf(counter.lastId);
  }

  #readCounter() {
    return readItem(this.#client, this.#tableName, counterKey, isCounterItem);
  }

  async #isEmpty(): Promise<boolean> {
    const command = new ScanCommand({ TableName: this.#tableName, Limit: 1, ConsistentRead: true });
    try {
      const { Count: count } = await this.#client.send(command);
      return count === 0;
    } catch (error) {
      throw translateDynamoDBError(error);
    }
  }
}

/** The elements of an array of books, without its brackets. */
function toJson(books: readonly Book[]): string {
  return JSON.stringify(books).slice(1, -1);
}
