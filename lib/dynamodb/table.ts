import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import * as errors from './errors.ts';
import type { HttpResponse } from './http-handler.ts';
import { counterKey, type ItemKey } from './keys.ts';
import { type QueryPage, readQueryPage } from './query-page.ts';
import type { Item } from './stored-items.ts';

type Input<C extends new (input: never) => unknown> = Omit<ConstructorParameters<C>[0], 'TableName'>;
type Output = { readonly Item?: Item; readonly Attributes?: Item; readonly Count?: number };

/**
 * The requests to one table. Reads are strongly consistent. Each operation throws a {@link StorageUnavailableError} when no
 * attempt gets a usable response, and each write a {@link ConditionFailedError} when its condition does not hold. `parse`
 * returns `undefined` for a damaged item; the request is then retried.
 */
export class Table {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;

  constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /** @returns the parsed item, or `undefined` when there is none */
  async get<Value>(key: ItemKey, parse: (item: Item) => Value | undefined): Promise<Value | undefined> {
    const command = new GetCommand({ TableName: this.#name, Key: key, ConsistentRead: true });
    const value = await this.#send(command, ({ Item: item }) => (item ? parse(item) : null));
    return value ?? undefined;
  }

  async put(input: Input<typeof PutCommand>): Promise<void> {
    await this.#send(new PutCommand({ TableName: this.#name, ...input }), () => true);
  }

  async delete(input: Input<typeof DeleteCommand>): Promise<void> {
    await this.#send(new DeleteCommand({ TableName: this.#name, ...input }), () => true);
  }

  /** @returns the parsed attributes that `ReturnValues` asks for */
  update<Value>(
    input: Input<typeof UpdateCommand>,
    parse: (item: Item) => Value | undefined,
  ): Promise<Value> {
    const command = new UpdateCommand({ TableName: this.#name, ...input });
    return this.#send(command, ({ Attributes: attributes = {} }) => parse(attributes));
  }

  /** Reads the body itself: the SDK converts each value twice, with several times the CPU time of the rest of a list. */
  query(input: Input<typeof QueryCommand>): Promise<QueryPage> {
    const command = new QueryCommand({ TableName: this.#name, ConsistentRead: true, ...input });
    let page: QueryPage | undefined;
    command.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const response = result.response as HttpResponse;
        if (response.statusCode < 300) {
          page = readQueryPage(response.body);
          response.body = Buffer.from('{}');
        }
        return result;
      },
      // Between the HTTP handler and the SDK's deserializer.
      { name: 'readPage', step: 'deserialize', override: true },
    );
    return this.#send(command, () => page);
  }

  async isEmpty(): Promise<boolean> {
    const command = new ScanCommand({ TableName: this.#name, Limit: 1, ConsistentRead: true });
    return (await this.#send(command, ({ Count: count }) => count)) === 0;
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
        throw new errors.TableNotFoundError(`the table "${this.#name}" does not exist`, { cause });
      }
      if (!errors.isValidationError(error)) throw error;
      const expected = 'its primary key has to be the numbers "shard" (partition key) and "id" (sort key)';
      const message = `the table "${this.#name}" is not a book table: ${expected}`;
      throw new errors.KeySchemaError(message, { cause: error });
    }
  }

  /** Sends a command and watches its attempts, of which the SDK reports only the number. */
  async #send<Value>(
    command: { readonly middlewareStack: unknown },
    parse: (output: Output) => Value | undefined,
  ): Promise<Value> {
    // The types of the commands differ in input and output only.
    const { middlewareStack } = command as PutCommand;
    let value: Value | undefined;
    let responseLost = false;
    middlewareStack.add(
      (next) => async (args) => {
        try {
          const result = await next(args);
          value = parse(result.output as Output);
          if (value !== undefined) return result;
          throw new errors.AttemptError('the response is not complete', { requestSent: true });
        } catch (error) {
          responseLost ||= mayHaveBeenCarriedOut(error);
          throw error;
        }
      },
      // Outside the SDK's deserializer, inside its retries; `override`, as lib-dynamodb concatenates a stack with itself.
      { name: 'watchAttempt', step: 'deserialize', priority: 'high', override: true },
    );
    try {
      await this.#client.send(command as PutCommand);
      return value as Value;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw errors.translateDynamoDBError(error);
      throw new errors.ConditionFailedError(responseLost, { cause: error });
    }
  }
}

/** Whether a failed attempt may have been carried out. A 4xx, such as throttling, says that it was not. */
function mayHaveBeenCarriedOut(error: unknown): boolean {
  if (error instanceof errors.AttemptError) return error.requestSent;
  const { httpStatusCode = 0 } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {};
  return httpStatusCode < 400 || httpStatusCode >= 500;
}
