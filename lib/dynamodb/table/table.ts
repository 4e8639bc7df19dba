import type { $Command } from '@aws-sdk/client-dynamodb';
import {
  DynamoDBDocumentClient,
  type DynamoDBDocumentClientResolvedConfig,
  GetCommand,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ServiceInputTypes,
  type ServiceOutputTypes,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { createDynamoDBClient, type TableLocation } from '../connection/client.ts';
import { interpretDatabaseError } from '../connection/database-error.ts';
import { AttemptError, KeySchemaError, TableNotFoundError } from '../connection/errors.ts';
import { Attempts } from './attempts.ts';
import { counterKey, type ItemKey } from './keys.ts';
import { type Item, parseInteger } from './stored-items.ts';

/** What a middleware of the SDK gets from the HTTP handler. */
type Responding = { response: { body: Uint8Array; readonly statusCode: number } };

/**
 * The requests to one table. Reads are strongly consistent, and are tried again. Each write is one attempt, for
 * {@link write}. When `parse` throws an {@link AttemptError}, the response is unusable. Any other error of `parse`
 * is a bug. An error of the SDK never is: its `TypeError` means a response that it cannot read.
 */
export class Table {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;
  readonly #attempts = new Attempts();

  constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** Makes one attempt. @throws what its failure means for the request ({@link interpretDatabaseError}) */
  async #send<In extends ServiceInputTypes, Out extends ServiceOutputTypes>(
    command: $Command<In, Out, DynamoDBDocumentClientResolvedConfig>,
    abortSignal: AbortSignal,
  ): Promise<Out> {
    try {
      return await this.#client.send(command, { abortSignal });
    } catch (error) {
      throw interpretDatabaseError(error);
    }
  }

  /**
   * @param returned - the item that refused a write, if DynamoDB has returned it, which saves the request
   * @returns the parsed item, or `undefined` when there is none
   */
  async get<Value>(key: ItemKey, parse: (item: Item) => Value, returned?: Item): Promise<Value | undefined> {
    const isItem = (item: Item) => item.shard === key.shard && item.id === key.id;
    if (returned && isItem(returned)) return parse(returned);
    return this.#attempts.read(async (abortSignal) => {
      const command = new GetCommand({ TableName: this.#name, Key: key, ConsistentRead: true });
      const { Item: item } = await this.#send(command, abortSignal);
      if (item && !isItem(item)) throw new AttemptError('the response has another item');
      return item && parse(item);
    });
  }

  /**
   * Requests a page of items. The SDK would convert each value twice, which takes several times the CPU time of the rest of
   * a list. So `parse` gets the body of the response in its place, and its errors count as the SDK's.
   */
  query<Value>(input: Omit<QueryCommandInput, 'TableName'>, parse: (body: Uint8Array) => Value): Promise<Value> {
    return this.#attempts.read(async (abortSignal) => {
      const command = new QueryCommand({ TableName: this.#name, ConsistentRead: true, ...input });
      let page: Value | undefined;
      command.middlewareStack.add(
        (next) => async (request) => {
          const result = await next(request);
          const { response } = result as Responding;
          if (response.statusCode === 200) {
            page = parse(response.body);
            response.body = new Uint8Array();
          }
          return result;
        },
        { name: 'takeBody', step: 'deserialize', override: true }, // lib-dynamodb applies it twice
      );
      await this.#send(command, abortSignal);
      return page as Value;
    });
  }

  /** Whether the table has no item at all. */
  isEmpty(): Promise<boolean> {
    return this.#attempts.read(async (abortSignal) => {
      const command = new ScanCommand({ TableName: this.#name, Limit: 1, ConsistentRead: true });
      const { Count: count } = await this.#send(command, abortSignal);
      return parseInteger(count, 'the response has no count') === 0;
    });
  }

  /** Makes attempts at a write ({@link Attempts.write}), each with one call of a method below. */
  readonly write: Attempts['write'] = (send) => this.#attempts.write(send);

  async put(input: Omit<PutCommandInput, 'TableName'>, abortSignal: AbortSignal): Promise<void> {
    const command = new PutCommand({ TableName: this.#name, ...input });
    await this.#send(command, abortSignal);
  }

  /** Puts all items or none. */
  async putAll(inputs: readonly Omit<PutCommandInput, 'TableName'>[], abortSignal: AbortSignal): Promise<void> {
    const TransactItems = inputs.map((input) => ({ Put: { TableName: this.#name, ...input } }));
    const command = new TransactWriteCommand({ TransactItems });
    await this.#send(command, abortSignal);
  }

  /** @returns the parsed attributes that `ReturnValues` asks for */
  async update<Value>(
    input: Omit<UpdateCommandInput, 'TableName'>,
    parse: (item: Item) => Value,
    abortSignal: AbortSignal,
  ): Promise<Value> {
    const command = new UpdateCommand({ TableName: this.#name, ...input });
    const { Attributes: attributes = {} } = await this.#send(command, abortSignal);
    return parse(attributes);
  }

  /**
   * Checks the table by reading the counter. DescribeTable would need another permission, and it has a low quota.
   *
   * @throws {TableNotFoundError | KeySchemaError}
   */
  async verify(): Promise<void> {
    try {
      await this.get(counterKey, () => {});
    } catch (error) {
      const { name, cause } = error as Error & { cause?: Error };
      if (cause?.name === 'ResourceNotFoundException') {
        throw new TableNotFoundError(`the table "${this.#name}" does not exist`);
      }
      if (name !== 'InvalidRequestError') throw error;
      const key = 'its primary key has to be the numbers "shard" (partition key) and "id" (sort key)';
      throw new KeySchemaError(`the table "${this.#name}" is not a book table: ${key}`);
    }
  }
}

/**
 * Connects to a table and verifies it. A function awaits this while its module loads, so that an instance whose storage
 * is unreachable fails in Lambda's INIT phase.
 */
export async function openTable(location: TableLocation): Promise<Table> {
  const table = new Table(DynamoDBDocumentClient.from(createDynamoDBClient(location)), location.tableName);
  await table.verify().catch(({ name, message, stack }: Error) => {
    // Without its cause, of which Lambda's runtime would print DynamoDB's whole response.
    throw Object.assign(new Error(message), { name, stack });
  });
  return table;
}
