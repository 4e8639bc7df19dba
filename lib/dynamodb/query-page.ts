import { type DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { AttemptError } from './attempt-error.ts';
import { translateDynamoDBError } from './errors.ts';
import type { HttpResponse } from './http-handler.ts';
import type { ItemKey } from './keys.ts';

/** What a Query gives: at most 1 MB of items (Amazon DynamoDB API Reference, "Query"). */
export interface Page<Element> {
  readonly elements: readonly Element[];
  /** Where the Query goes on; absent at the end of the partition. */
  readonly lastEvaluatedKey?: ItemKey | undefined;
}

/** Reads an item in DynamoDB's JSON; `undefined` for one that is damaged. */
export type ItemReader<Element> = (item: unknown) => Element | undefined;

/**
 * Runs a Query and reads the body of its response here: the SDK converts every attribute value twice, which takes
 * several times the processor time of everything else in a list.
 *
 * @param client - a document client
 * @param input - the Query
 * @param readItem - reads an item with the attributes of the Query's projection
 * @throws {StorageUnavailableError} when no attempt got a page
 */
export async function queryPage<Element>(
  client: DynamoDBDocumentClient,
  input: QueryCommandInput,
  readItem: ItemReader<Element>,
): Promise<Page<Element>> {
  const command = new QueryCommand(input);
  let page: Page<Element> = { elements: [] };
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as HttpResponse;
      if (response.statusCode < 300) {
        page = readPage(response.body, readItem);
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

function readPage<Element>(body: Uint8Array, readItem: ItemReader<Element>): Page<Element> {
  const { Items: items, LastEvaluatedKey: key } = JSON.parse(body.toString());
  const elements = Array.isArray(items) ? items.map(readItem) : [undefined];
  if (elements.includes(undefined)) {
    throw new AttemptError('the response is no page of books', { requestSent: true });
  }
  const lastEvaluatedKey = key && { shard: Number(key.shard.N), id: Number(key.id.N) };
  return { elements: elements as Element[], lastEvaluatedKey };
}
