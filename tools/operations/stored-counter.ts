import { ConditionalCheckFailedException, type DynamoDB, paginateScan } from '@aws-sdk/client-dynamodb';
import { counterKey, shardOf } from '../../lib/dynamodb/keys.ts';
import { StageError } from '../../serverless/deploy/target.ts';

/** How far a counter is raised above the last id that is known: room for ids that nobody knows of. */
export const counterMargin = 10_000;

/** How far above the highest id an operator may set a counter. A list then reads a hundred empty shards. */
const maxGap = 1_000_000;

const Key = Object.fromEntries(Object.entries(counterKey).map(([name, value]) => [name, { N: String(value) }]));

/** @returns the last id that was drawn; `undefined` when the counter is missing or not a number from 0 */
async function readCounter(client: DynamoDB, TableName: string): Promise<number | undefined> {
  const { Item } = await client.getItem({ TableName, Key, ConsistentRead: true });
  const lastId = Number(Item?.lastId?.N ?? Number.NaN);
  return Number.isSafeInteger(lastId) && lastId >= 0 ? lastId : undefined;
}

/** @returns the last id that was drawn; the highest id in the table when its counter is lost */
export async function findLastId(client: DynamoDB, TableName: string): Promise<number> {
  return (await readCounter(client, TableName)) ?? (await findHighestId(client, TableName)) ?? 0;
}

/** Raises the counter of a table, unless it is at `lastId` or above. */
export async function raiseCounter(client: DynamoDB, TableName: string, lastId: number): Promise<void> {
  try {
    await client.updateItem({
      TableName,
      Key,
      UpdateExpression: 'SET lastId = :lastId',
      ConditionExpression: 'attribute_not_exists(lastId) OR NOT attribute_type(lastId, :number) OR lastId < :lastId',
      ExpressionAttributeValues: { ':lastId': { N: String(lastId) }, ':number': { S: 'N' } },
    });
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

/**
 * Compares the counter of a table with the ids in it.
 *
 * @param atLeast - an id that was given, and that the table may have forgotten
 * @returns the counter, the highest id, and what the counter has to be raised to, if it is missing or too low
 * @throws {StageError} when `atLeast` is so high that every list would take minutes, with no way back
 */
export async function planRepair(client: DynamoDB, TableName: string, atLeast = 0) {
  const lastId = await readCounter(client, TableName);
  const highestId = await findHighestId(client, TableName);
  const limit = (highestId ?? 0) + maxGap;
  if (atLeast > limit) {
    throw new StageError(`The highest id in the table is ${highestId ?? 0}: --at-least may be ${limit}.`);
  }
  const isWrong = lastId === undefined ? highestId !== undefined : lastId < Math.max(highestId ?? 0, atLeast);
  const repairedId = isWrong ? Math.max((highestId ?? 0) + counterMargin, atLeast) : undefined;
  return { lastId, highestId, repairedId };
}

/**
 * Reads the keys of all items. Nothing less finds the highest id: without a counter, nobody knows at which partition
 * the books end.
 *
 * @returns the highest id of a book, also of a deleted one whose item or claim is left; `undefined` for an empty table
 */
async function findHighestId(client: DynamoDB, TableName: string): Promise<number | undefined> {
  const names = { '#shard': 'shard', '#id': 'id', '#bookId': 'bookId' };
  const input = { TableName, ConsistentRead: true, ExpressionAttributeNames: names };
  let highestId: number | undefined;
  for await (const { Items = [] } of paginateScan(
    { client },
    { ...input, ProjectionExpression: '#shard, #id, #bookId' },
  )) {
    for (const { shard, id, bookId } of Items) {
      // The keys of claims have higher numbers than any book.
      const isBook = shardOf(Number(id?.N)) === Number(shard?.N);
      highestId = Math.max(highestId ?? 0, Number(isBook ? id?.N : (bookId?.N ?? 0)));
    }
  }
  return highestId;
}
