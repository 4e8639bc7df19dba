import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type AttemptOptions, Attempts } from './attempts.ts';
import { createDynamoDBClient } from './client.ts';
import { AttemptError, isValidationError, KeySchemaError, TableNotFoundError } from './errors.ts';
import { counterKey, type ItemKey } from './keys.ts';
import { type QueryPage, readQueryPage } from './query-page.ts';
import type { WholeResponse } from './request-handler.ts';
import type { Item } from './stored-items.ts';
import type { TableLocation } from './table-url.ts';

type Input<C extends new (input: never) => unknown> = Omit<ConstructorParameters<C>[0], 'TableName'>;

/**
 * The requests to one table. Reads are strongly consistent and repeated; each throws a {@link StorageUnavailableError} when
 * no attempt gets a usable response. Methods that take {@link AttemptOptions} make one attempt: those of `attempts` call
 * them. A `parse` that throws makes a response unusable.
 */
export class Table {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;
  readonly attempts = new Attempts();

  constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** @returns the parsed item, or `undefined` when there is none */
  get<Value>(key: ItemKey, parse: (item: Item) => Value): Promise<Value | undefined> {
    return this.attempts.repeat(async (options) => {
      const command = new GetCommand({ TableName: this.#name, Key: key, ConsistentRead: true });
      const { Item: item } = await this.#client.send(command, options);
      return item && parse(item);
    });
  }

  /** Reads the body itself: the SDK converts each value twice, with several times the CPU time of the rest of a list. */
  query(input: Input<typeof QueryCommand>, areBooks: boolean): Promise<QueryPage> {
    return this.attempts.repeat(async (options) => {
      const command = new QueryCommand({ TableName: this.#name, ConsistentRead: true, ...input });
      let page: QueryPage | undefined;
      command.middlewareStack.add(
        (next) => async (args) => {
          const result = await next(args);
          const response = result.response as WholeResponse;
          if (response.statusCode < 300) {
            page = readQueryPage(response.body, areBooks);
            response.body = Buffer.from('{}');
          }
          return result;
        },
        // Between the request handler and the SDK's deserializer; `override`, as lib-dynamodb concatenates a stack with itself.
        { name: 'readPage', step: 'deserialize', override: true },
      );
      await this.#client.send(command, options);
      return page as QueryPage;
    });
  }

  isEmpty(): Promise<boolean> {
    return this.attempts.repeat(async (options) => {
      const command = new ScanCommand({ TableName: this.#name, Limit: 1, ConsistentRead: true });
      const { Count: count } = await this.#client.send(command, options);
      if (count === undefined) throw new AttemptError('the response has no count', { mayBeDone: false });
      return count === 0;
    });
  }

  async put(input: Input<typeof PutCommand>, options: AttemptOptions): Promise<void> {
    await this.#client.send(new PutCommand({ TableName: this.#name, ...input }), options);
  }

  /** Puts several items or none. */
  async putAll(inputs: readonly Input<typeof PutCommand>[], options: AttemptOptions): Promise<void> {
    const TransactItems = inputs.map((input) => ({ Put: { TableName: this.#name, ...input } }));
    await this.#client.send(new TransactWriteCommand({ TransactItems }), options);
  }

  /** @returns the parsed attributes that `ReturnValues` asks for */
  async update<Value>(
    input: Input<typeof UpdateCommand>,
    parse: (item: Item) => Value,
    options: AttemptOptions,
  ): Promise<Value> {
    const command = new UpdateCommand({ TableName: this.#name, ...input });
    const { Attributes: attributes = {} } = await this.#client.send(command, options);
    return parse(attributes);
  }

  /**
   * Reads the counter, which fails with a {@link TableNotFoundError} or a {@link KeySchemaError} unless the table is ours.
   * Unlike DescribeTable, that takes no further permission, has no low quota, and leaves an open connection behind.
   */
  async verify(): Promise<void> {
    try {
      await this.get(counterKey, (item) => item);
    } catch (error) {
      const { cause } = error as { cause?: Error };
      if (cause?.name === 'ResourceNotFoundException') {
        throw new TableNotFoundError(`the table "${this.#name}" does not exist`, { cause });
      }
      if (!isValidationError(error)) throw error;
      const expected = 'its primary key has to be the numbers "shard" (partition key) and "id" (sort key)';
      const message = `the table "${this.#name}" is not a book table: ${expected}`;
      throw new KeySchemaError(message, { cause: error });
    }
  }
}

/**
 * Connects to a table and verifies it. A function awaits this while its module loads, so that an instance whose storage is
 * unreachable fails in Lambda's INIT phase and serves nobody. Lambda's runtime prints such an error with all members and
 * causes, and those of the SDK hold DynamoDB's whole response, so only name, message and stack are kept.
 *
 * @throws what {@link Table.verify} throws, without its cause
 */
export async function openTable(location: TableLocation): Promise<Table> {
  const table = new Table(DynamoDBDocumentClient.from(createDynamoDBClient(location)), location.tableName);
  try {
    await table.verify();
  } catch (error) {
    const { name, message, stack } = error as Error;
    throw Object.assign(new Error(message), { name, stack });
  }
  return table;
}
