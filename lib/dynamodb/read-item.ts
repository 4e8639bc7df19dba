import { type DynamoDBDocumentClient, GetCommand, type GetCommandOutput } from '@aws-sdk/lib-dynamodb';
import { translateDynamoDBError } from './errors.ts';
import type { ItemKey } from './keys.ts';
import { watchAttempts } from './watch-attempts.ts';

/** An item as lib-dynamodb gives it. */
export type Item = NonNullable<GetCommandOutput['Item']>;

/**
 * Reads an item, strongly consistent.
 *
 * @param client - a document client
 * @param tableName - the table
 * @param key - the item's key
 * @param isComplete - tells whether an item of a response has what such an item has
 * @returns the item, or `undefined` when there is none
 * @throws {StorageUnavailableError} when no attempt got a usable response
 */
export async function readItem(
  client: DynamoDBDocumentClient,
  tableName: string,
  key: ItemKey,
  isComplete: (item: Item) => boolean,
): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true });
  watchAttempts(command, ({ Item: item }) => item === undefined || isComplete(item));
  try {
    const { Item: item } = await client.send(command);
    return item;
  } catch (error) {
    throw translateDynamoDBError(error);
  }
}
