import { type DynamoDBClient, GetItemCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import type { Book } from '../books/book.ts';
import { translateDynamoDBError } from './errors.ts';
import { readJsonPage, readPage, type StartKey } from './item-page.ts';
import { counterKey, shardOf } from './keys.ts';
import { queryText } from './query-text.ts';

/** Shards whose first page is asked for before the list gets there. More would take memory and hardly time. */
const shardsAhead = 3;

/** Books in a page of the whole list, a quarter of what Query gives of small ones: several pages are held at a time. */
const maxBooksPerPage = 2_500;

/** Pages of a slice that are held in memory before its end is looked for by the ids alone: a few MB. */
const maxHeldPages = 4;

/** Part of the catalog. */
export interface BookSlice {
  /** The books, ascending by id, as JSON objects with commas between them, some at a time. */
  readonly pieces: Iterable<string> | AsyncIterable<string>;
  /** The id of the last book, when books with higher ids follow. */
  readonly continueAfter?: number;
}

/** A book's item in DynamoDB's JSON. */
interface BookItem {
  readonly id: { readonly N: string };
  readonly title: { readonly S: string };
  readonly author: { readonly S: string };
  readonly year: { readonly N: string };
}

/** Which attributes a Query brings. Those that nobody looks at would take a third of the time to parse a page. */
const projections = {
  book: { expression: 'id, title, author, #year', names: { '#year': 'year' } }, // "year" is a reserved word
  id: { expression: 'id', names: {} },
} as const;

/** What may be asked of a Query besides its shard. */
type QueryOptions = Pick<QueryCommandInput, 'ExclusiveStartKey' | 'Limit'> & {
  /** Only items with higher ids. */
  readonly after?: number;
  /** The whole book when absent. */
  readonly projection?: keyof typeof projections | undefined;
};

/**
 * The books as a whole, in ascending order of their ids. Reads are strongly consistent.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable answer.
 */
export class BookList {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;

  /**
   * @param client - a client
   * @param tableName - a table that {@link verifyTable} accepts
   */
  constructor(client: DynamoDBClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /**
   * Reads all books, in pieces of at most 1 MB of items, whatever their number: memory does not grow with the catalog,
   * and nothing more is read while nobody asks for the next piece, but for a few pages ahead.
   *
   * Books that are created or deleted meanwhile may or may not be among them; every other book is, once.
   *
   * @returns the books as JSON objects with commas between them, their fields in the order in which DynamoDB has them
   */
  async *readAll(): AsyncGenerator<string> {
    const ahead = [this.#startQuery(0)];
    const lastShard = await this.#readLastShard();
    for (let shard = 0; shard <= lastShard; shard += 1) {
      let page = ahead.shift() ?? this.#startQuery(shard);
      for (;;) {
        const { json, lastEvaluatedKey } = readJsonPage(await page);
        // Only now, so that the first books do not wait behind others.
        while (ahead.length < shardsAhead && shard + ahead.length < lastShard) {
          ahead.push(this.#startQuery(shard + 1 + ahead.length));
        }
        if (lastEvaluatedKey) page = this.#startQuery(shard, lastEvaluatedKey);
        if (json !== '') yield json;
        if (!lastEvaluatedKey) break;
      }
    }
  }

  /**
   * Reads some books after a given id. It costs what one Query for them costs, unless they lie across shards.
   *
   * Whether more follow is known at once, so that it can be said before the books are sent. For books so large that
   * they should not be held in memory till then, that takes a second look at the rest of them.
   *
   * @param after - the books' ids are higher than this
   * @param limit - how many books at most
   */
  async readSlice(after: number, limit: number): Promise<BookSlice> {
    const books: Book[] = [];
    let pages = 0;
    for await (const items of this.#readAfter<BookItem>(after, limit + 1)) {
      books.push(...items.map(toBook));
      pages += 1;
      if (pages === maxHeldPages && books.length < limit) return this.#readLargeSlice(books, limit);
    }
    const more = books.length > limit;
    return slice([toJson(books.slice(0, limit))], more ? books[limit - 1]?.id : undefined);
  }

  /** Goes on with a slice of which the first books are held: finds its end, then reads up to there as it is sent. */
  async #readLargeSlice(held: readonly Book[], limit: number): Promise<BookSlice> {
    const after = held.at(-1)?.id ?? 0;
    const missing = limit - held.length;
    const ids: number[] = [];
    for await (const items of this.#readAfter<Pick<BookItem, 'id'>>(after, missing + 1, 'id')) {
      ids.push(...items.map(({ id }) => Number(id.N)));
    }
    const lastId = ids.slice(0, missing).at(-1) ?? after;
    return slice(this.#readUpTo(held, lastId, missing), ids.length > missing ? lastId : undefined);
  }

  async *#readUpTo(held: readonly Book[], lastId: number, missing: number): AsyncGenerator<string> {
    yield toJson(held);
    for await (const items of this.#readAfter<BookItem>(held.at(-1)?.id ?? 0, missing)) {
      // Books that were deleted meanwhile would let others in from behind the end, which belong to the next slice.
      yield toJson(items.map(toBook).filter(({ id }) => id <= lastId));
    }
  }

  /** Reads at most `limit` items after an id, page by page and shard by shard. */
  async *#readAfter<Item>(
    after: number,
    limit: number,
    projection?: QueryOptions['projection'],
  ): AsyncGenerator<readonly Item[], void, undefined> {
    let left = limit;
    let lastShard: number | undefined;
    for (let shard = shardOf(after + 1); shard <= (lastShard ?? shard); shard += 1) {
      let startKey: StartKey | undefined;
      do {
        const options = { after, ExclusiveStartKey: startKey, Limit: left, projection };
        const { Items: items, LastEvaluatedKey: lastEvaluatedKey } = readPage<Item>(
          await this.#query(shard, options),
        );
        if (items.length > 0) yield items;
        left -= items.length;
        if (left === 0) return;
        startKey = lastEvaluatedKey;
      } while (startKey !== undefined);
      lastShard ??= await this.#readLastShard();
    }
  }

  /** Starts a Query whose answer is awaited later; a failure that nobody gets to see then is no crash. */
  #startQuery(shard: number, startKey?: StartKey): Promise<string> {
    const page = this.#query(shard, { ExclusiveStartKey: startKey, Limit: maxBooksPerPage });
    page.catch(() => {});
    return page;
  }

  #query(shard: number, { after = 0, projection = 'book', ...options }: QueryOptions): Promise<string> {
    const { expression, names } = projections[projection];
    return queryText(this.#client, {
      TableName: this.#tableName,
      // "shard" is a reserved word of DynamoDB's expressions.
      KeyConditionExpression: '#shard = :shard AND id > :after',
      ProjectionExpression: expression,
      ExpressionAttributeNames: { '#shard': 'shard', ...names },
      ExpressionAttributeValues: { ':shard': { N: String(shard) }, ':after': { N: String(after) } },
      ConsistentRead: true,
      ...options,
    });
  }

  async #readLastShard(): Promise<number> {
    try {
      const { Item: counter } = await this.#client.send(
        new GetItemCommand({
          TableName: this.#tableName,
          Key: { shard: { N: String(counterKey.shard) }, id: { N: String(counterKey.id) } },
          ConsistentRead: true,
        }),
      );
      return shardOf(Number(counter?.lastId?.N ?? 0));
    } catch (error) {
      throw translateDynamoDBError(error);
    }
  }
}

function slice(pieces: BookSlice['pieces'], continueAfter: number | undefined): BookSlice {
  return continueAfter === undefined ? { pieces } : { pieces, continueAfter };
}

function toBook({ id, title, author, year }: BookItem): Book {
  return { id: Number(id.N), title: title.S, author: author.S, year: Number(year.N) };
}

/** The elements of an array of books, without its brackets. */
function toJson(books: readonly Book[]): string {
  return JSON.stringify(books).slice(1, -1);
}
