import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { CounterError } from '../books/errors.ts';
import { type Attempt, Attempts } from './attempts.ts';
import { createDynamoDBClient, type TableLocation } from './client.ts';
import { KeySchemaError, TableNotFoundError } from './errors.ts';
import { counterKey, type ItemKey } from './keys.ts';
import { type QueryPage, readQueryPage } from './query-page.ts';
import { type Item, parseCounter, parseInteger } from './stored-items.ts';

type Input<C extends new (input: never) => unknown> = Omit<ConstructorParameters<C>[0], 'TableName'>;
type Put = Input<typeof PutCommand>;
type Update = Input<typeof UpdateCommand>;

/**
 * The requests to one table. Reads are strongly consistent and repeated until a {@link StorageUnavailableError}; methods that
 * take an {@link Attempt} make one, for `attempts`. A `parse` that throws makes a response unusable.
 */
export class Table {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;
  readonly attempts = new Attempts();

  constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** @returns the parsed item, or `undefined` when there is none; `known` is an item that need not be read */
  get<Value>(key: ItemKey, parse: (item: Item) => Value, known?: Item): Promise<Value | undefined> {
    return this.attempts.make(async (attempt) => {
      const command = new GetCommand({ TableName: this.#name, Key: key, ConsistentRead: true });
      const { Item: item } = known ? { Item: known } : await this.#client.send(command, attempt);
      return item && parse(item);
    });
  }

  /** Reads the body itself: the SDK converts each value twice, with several times the CPU time of the rest of a list. */
  query(input: Input<typeof QueryCommand>, areBooks: boolean): Promise<QueryPage> {
    return this.attempts.make(async (attempt) => {
      const command = new QueryCommand({ TableName: this.#name, ConsistentRead: true, ...input });
      const pages: QueryPage[] = [];
      const options = { ...attempt, takeBody: (body: Uint8Array) => pages.push(readQueryPage(body, areBooks)) };
      await this.#client.send(command, options);
      return pages[0] as QueryPage;
    });
  }

  /**
   * Reads the counter: the last id that was drawn, 0 for an empty table. Without its counter, the list of a table that holds
   * books would end too soon and look complete, and a new counter would draw their ids.
   *
   * @throws {CounterError} when the table holds items and no counter
   */
  async readLastId(): Promise<number> {
    const readCounter = () => this.get(counterKey, parseCounter);
    const lastId = (await readCounter()) ?? ((await this.#isEmpty()) ? 0 : await readCounter());
    if (lastId !== undefined) return lastId;
    const remedy = 'put the item with the highest id that was ever given as its lastId (docs/operations.md)';
    throw new CounterError(`the table has items and no counter: ${remedy}`);
  }

  #isEmpty(): Promise<boolean> {
    return this.attempts.make(async (attempt) => {
      const command = new ScanCommand({ TableName: this.#name, Limit: 1, ConsistentRead: true });
      const { Count: count } = await this.#client.send(command, attempt);
      return parseInteger(count, 'the response has no count') === 0;
    });
  }

  /** Puts all items or none. */
  async put(inputs: readonly Put[], attempt: Attempt): Promise<void> {
    const puts = inputs.map((input) => ({ Put: { TableName: this.#name, ...input } }));
    const [first, second] = puts;
    if (first && !second) await this.#client.send(new PutCommand(first.Put), attempt);
    else await this.#client.send(new TransactWriteCommand({ TransactItems: puts }), attempt);
  }

  /** @returns the parsed attributes that `ReturnValues` asks for */
  async update<Value>(input: Update, parse: (item: Item) => Value, attempt: Attempt): Promise<Value> {
    const command = new UpdateCommand({ TableName: this.#name, ...input });
    const { Attributes: attributes = {} } = await this.#client.send(command, attempt);
    return parse(attributes);
  }

  /**
   * Reads the counter: unlike DescribeTable, that takes no further permission, has no low quota, and leaves a connection open.
   *
   * @throws {TableNotFoundError | KeySchemaError} when the table is not one of books
   */
  async verify(): Promise<void> {
    try {
      await this.get(counterKey, (item) => item);
    } catch (error) {
      const { name, cause } = error as Error & { cause?: Error };
      if (cause?.name === 'ResourceNotFoundException') {
        throw new TableNotFoundError(`the table "${this.#name}" does not exist`, { cause });
      }
      if (name !== 'ValidationException') throw error;
      const key = 'its primary key has to be the numbers "shard" (partition key) and "id" (sort key)';
      throw new KeySchemaError(`the table "${this.#name}" is not a book table: ${key}`, { cause: error });
    }
  }
}

/**
 * Connects to a table and verifies it. A function awaits this while its module loads, so that an instance whose storage is
 * unreachable fails in Lambda's INIT phase. Lambda's runtime would print the cause of the error with DynamoDB's response.
 */
export async function openTable(location: TableLocation): Promise<Table> {
  const table = new Table(DynamoDBDocumentClient.from(createDynamoDBClient(location)), location.tableName);
  await table.verify().catch(({ name, message, stack }: Error) => {
    throw Object.assign(new Error(message), { name, stack });
  });
  return table;
}
