import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DeleteCommandInput,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import {
  AttemptError,
  ConditionFailedError,
  isValidationError,
  KeySchemaError,
  TableNotFoundError,
  translateDynamoDBError,
} from './errors.ts';
import type { HttpResponse } from './http-handler.ts';
import { counterKey, type ItemKey } from './keys.ts';
import { type QueryPage, readQueryPage } from './query-page.ts';
import type { Item } from './stored-items.ts';

type Input<CommandInput> = Omit<CommandInput, 'TableName'>;

/** The members of a response that an operation reads. */
interface Output {
  readonly Item?: Item;
  readonly Attributes?: Item;
  readonly Count?: number;
}

/** Reads what an operation returns; `undefined` for a response without it, which is damaged and retried. */
type Parse<Value> = (output: Output) => Value | undefined;

/**
 * The requests to one table. Reads are strongly consistent.
 *
 * Each operation throws a {@link StorageUnavailableError} when no attempt gets a usable response, and each write a
 * {@link ConditionFailedError} when its condition does not hold.
 */
export class Table {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;

  constructor(client: DynamoDBDocumentClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  /**
   * @param key - the key of an item
   * @param parse - reads the item; `undefined` when it is damaged
   * @returns the parsed item, or `undefined` when there is none
   */
  async get<Value>(key: ItemKey, parse: (item: Item) => Value | undefined): Promise<Value | undefined> {
    const command = new GetCommand({ TableName: this.#name, Key: key, ConsistentRead: true });
    const value = await this.#send(command, ({ Item: item }) => (item ? parse(item) : null));
    return value ?? undefined;
  }

  async put(input: Input<PutCommandInput>): Promise<void> {
    await this.#send(new PutCommand({ TableName: this.#name, ...input }), () => true);
  }

  async delete(input: Input<DeleteCommandInput>): Promise<void> {
    await this.#send(new DeleteCommand({ TableName: this.#name, ...input }), () => true);
  }

  /** @returns the attributes that `ReturnValues` asks for, parsed */
  update<Value>(
    input: Input<UpdateCommandInput>,
    parse: (attributes: Item) => Value | undefined,
  ): Promise<Value> {
    const command = new UpdateCommand({ TableName: this.#name, ...input });
    return this.#send(command, ({ Attributes: attributes = {} }) => parse(attributes));
  }

  /**
   * Reads the body of the response itself: the SDK converts every attribute value twice, which takes several times the
   * CPU time of the rest of a list.
   */
  query(input: Input<QueryCommandInput>): Promise<QueryPage> {
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
   * Checks that the table exists and has our key schema. Unlike DescribeTable, reading the counter takes no permission
   * that the functions lack, has no low quota, and leaves an open connection behind.
   *
   * @throws {TableNotFoundError} when there is no such table
   * @throws {KeySchemaError} when its primary key is another
   */
  async verify(): Promise<void> {
    try {
      await this.get(counterKey, (item) => item);
    } catch (error) {
      const { cause } = error as { cause?: { name?: string } };
      if (cause?.name === 'ResourceNotFoundException') throw new TableNotFoundError(this.#name, { cause });
      if (isValidationError(error)) throw new KeySchemaError(this.#name, { cause: error });
      throw error;
    }
  }

  /** Sends a command whose attempts are watched, as the SDK reports only their number. */
  async #send<Value>(command: { readonly middlewareStack: unknown }, parse: Parse<Value>): Promise<Value> {
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
          throw new AttemptError('the response lacks what the operation returns', { requestSent: true });
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
      if (error instanceof ConditionalCheckFailedException) {
        throw new ConditionFailedError({ responseLost, cause: error });
      }
      throw translateDynamoDBError(error);
    }
  }
}

/**
 * Whether DynamoDB may have carried out a failed attempt: its response never came, was damaged, or was a 5xx. A 4xx,
 * throttling for one, says that it was not.
 */
function mayHaveBeenCarriedOut(error: unknown): boolean {
  if (error instanceof AttemptError) return error.requestSent;
  const { httpStatusCode = 0 } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {};
  return httpStatusCode < 400 || httpStatusCode >= 500;
}
