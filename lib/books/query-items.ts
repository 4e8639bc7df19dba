import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type DynamoDBClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { translateDynamoDBError } from './dynamodb-errors.ts';

/** Where a Query goes on. */
export type StartKey = NonNullable<QueryCommandInput['ExclusiveStartKey']>;

/** What one Query gave: at most 1 MB of items. */
export interface ItemPage<Item> {
  readonly items: readonly Item[];
  /** Absent at the end of the partition. */
  readonly lastEvaluatedKey: StartKey | undefined;
}

/** The body of Query's response (Amazon DynamoDB API Reference, "Query"). */
interface QueryBody<Item> {
  readonly Items: readonly Item[];
  readonly LastEvaluatedKey?: StartKey;
}

/**
 * Runs a Query and gives the items as they stand in the response. The SDK would convert every attribute value twice on
 * the way, which takes about twice the processor time of everything else in a list.
 *
 * @typeParam Item - the shape of an item, its attributes in DynamoDB's JSON (`{"S": "…"}`, `{"N": "1"}`)
 * @param client - a client for the table
 * @param input - the Query
 * @returns reads the page out of the response; a page takes several times the memory that its text does, so that one
 * that has to wait for its turn is better not read yet
 * @throws {StorageUnavailableError} when the database gives no usable answer; so does the function that is returned
 */
export async function queryItems<Item>(
  client: DynamoDBClient,
  input: QueryCommandInput,
): Promise<() => ItemPage<Item>> {
  const command = new QueryCommand(input);
  let body = '';
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as { statusCode: number; body: Readable };
      if (response.statusCode < 300) {
        body = await text(response.body);
        response.body = Readable.from(['{}']);
      }
      return result;
    },
    // A command's middleware runs, on the way back, before the client's of the same priority (the SDK's deserializer),
    // and after that of a lower one (verifyResponses).
    { name: 'takeResponseBody', step: 'deserialize' },
  );
  try {
    await client.send(command);
  } catch (error) {
    throw translateDynamoDBError(error);
  }
  return () => readPage(body);
}

function readPage<Item>(body: string): ItemPage<Item> {
  try {
    const { Items, LastEvaluatedKey } = JSON.parse(body) as QueryBody<Item>;
    return { items: Items, lastEvaluatedKey: LastEvaluatedKey };
  } catch (error) {
    throw translateDynamoDBError(error);
  }
}
