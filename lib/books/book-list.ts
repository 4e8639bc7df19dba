import { type DynamoDBClient, GetItemCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import type { Book } from './book.ts';
import { translateDynamoDBError } from './dynamodb-errors.ts';
import { counterKey, shardOf } from './keys.ts';
import { type BookPage, queryBooks } from './query-books.ts';

/**
 * Shards whose first page is asked for before the list gets there. More would take memory and hardly time: one page
 * is about 1 MB on the wire and a few MB as books.
 */
const shardsAhead = 4;

/** Part of the catalog. */
export interface BookSlice {
  /** Ascending by id. */
  readonly books: readonly Book[];
  /** Whether books with higher ids follow. */
  readonly more: boolean;
}

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
   */
  async *readAll(): AsyncGenerator<readonly Book[]> {
    const ahead = [this.#startQuery(0)];
    const lastShard = shardOf(await this.#readLastId());
    for (let shard = 0; shard <= lastShard; shard += 1) {
      let page = ahead.shift() ?? this.#startQuery(shard);
      for (;;) {
        const { books, lastEvaluatedKey } = await page;
        // Only now, so that the first books do not wait behind others.
        while (ahead.length < shardsAhead && shard + ahead.length < lastShard) {
          ahead.push(this.#startQuery(shard + 1 + ahead.length));
        }
        if (lastEvaluatedKey) page = this.#startQuery(shard, lastEvaluatedKey);
        if (books.length > 0) yield books;
        if (!lastEvaluatedKey) break;
      }
    }
  }

  /**
   * Reads some books after a given id. It costs what one Query for them costs, unless they lie across shards.
   *
   * @param after - the books' ids are higher than this
   * @param limit - how many books at most
   */
  async readSlice(after: number, limit: number): Promise<BookSlice> {
    // One more, to know whether any follow.
    const wanted = limit + 1;
    const books: Book[] = [];
    let lastShard: number | undefined;
    for (let shard = shardOf(after + 1); shard <= (lastShard ?? shard); shard += 1) {
      let startKey: BookPage['lastEvaluatedKey'];
      do {
        const page = await this.#query(
          shard,
          { ExclusiveStartKey: startKey, Limit: wanted - books.length },
          after,
        );
        books.push(...page.books);
        if (books.length === wanted) return { books: books.slice(0, limit), more: true };
        startKey = page.lastEvaluatedKey;
      } while (startKey !== undefined);
      lastShard ??= shardOf(await this.#readLastId());
    }
    return { books, more: false };
  }

  /** Starts a Query whose answer is awaited later; a failure that nobody gets to see then is no crash. */
  #startQuery(shard: number, startKey?: BookPage['lastEvaluatedKey']): Promise<BookPage> {
    const page = this.#query(shard, { ExclusiveStartKey: startKey });
    page.catch(() => {});
    return page;
  }

  #query(
    shard: number,
    input: Pick<QueryCommandInput, 'ExclusiveStartKey' | 'Limit'>,
    after = 0,
  ): Promise<BookPage> {
    return queryBooks(this.#client, {
      TableName: this.#tableName,
      // "shard" is a reserved word of DynamoDB's expressions.
      KeyConditionExpression: '#shard = :shard AND id > :after',
      ExpressionAttributeNames: { '#shard': 'shard' },
      ExpressionAttributeValues: { ':shard': { N: String(shard) }, ':after': { N: String(after) } },
      ConsistentRead: true,
      ...input,
    });
  }

  async #readLastId(): Promise<number> {
    try {
      const { Item: counter } = await this.#client.send(
        new GetItemCommand({
          TableName: this.#tableName,
          Key: { shard: { N: String(counterKey.shard) }, id: { N: String(counterKey.id) } },
          ConsistentRead: true,
        }),
      );
      return Number(counter?.lastId?.N ?? 0);
    } catch (error) {
      throw translateDynamoDBError(error);
    }
  }
}
