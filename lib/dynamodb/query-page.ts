import { type DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { AttemptError } from './attempt-error.ts';
import { translateDynamoDBError } from './errors.ts';
import type { HttpResponse } from './http-handler.ts';
import type { ItemKey } from './keys.ts';
import { readPlainItems } from './plain-items.ts';

/** What a Query gives: at most 1 MB of items (Amazon DynamoDB API Reference, "Query"). */
export interface Page {
  /** The items as JSON objects with commas between them, each with the attributes of the projection. */
  readonly items: string;
  /** Where the Query goes on; absent at the end of the partition. */
  readonly lastEvaluatedKey?: ItemKey;
}

/**
 * Runs a Query and reads the body of its response here: the SDK converts every attribute value twice, which takes
 * several times the processor time of everything else in a list.
 *
 * @param client - a document client
 * @param input - the Query
 * @param attributesPerItem - how many attributes each item has in the Query's projection
 * @throws {StorageUnavailableError} when no attempt got a page
 */
export async function queryPage(
  client: DynamoDBDocumentClient,
  input: QueryCommandInput,
  attributesPerItem: number,
): Promise<Page> {
  const command = new QueryCommand(input);
  let page: Page = { items: '' };
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as HttpResponse;
      if (response.statusCode < 300) {
        page = readPage(response.body, attributesPerItem);
        response.body = Buffer.from('{}');
      }
      return result;
    },
    // Runs, on the way back, before the SDK's own deserializer; once, although lib-dynamodb joins a stack with itself.
    { name: 'readPage', step: 'deserialize', override: true },
  );
  try {
    await client.send(command);
  } catch (error) {
    throw translateDynamoDBError(error);
  }
  return page;
}

function readPage(body: Uint8Array, attributesPerItem: number): Page {
  const { items, itemCount, attributeCount, rest } = readPlainItems(body);
  const { Items: array, Count: count, LastEvaluatedKey: lastEvaluatedKey } = JSON.parse(rest);
  if (!Array.isArray(array) || count !== itemCount || attributeCount !== itemCount * attributesPerItem) {
    throw new AttemptError('the response is no page of books', { requestSent: true });
  }
  return { items, ...(lastEvaluatedKey && { lastEvaluatedKey }) };
}
