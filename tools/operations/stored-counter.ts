import { type AttributeValue, ConditionalCheckFailedException, type DynamoDB } from '@aws-sdk/client-dynamodb';
import { counterKey } from '../../lib/dynamodb/table/keys.ts';
import { StageError } from '../../serverless/deploy/target.ts';
import { moveBook, readBooksAbove } from './move-books.ts';
import { findGap, findStoredIds, type Gap, type StoredIds } from './stored-ids.ts';

/** How far a counter is set above the last id that is known: room for ids that nobody knows of. */
export const counterMargin = 10_000;

/** How far above the highest id a counter may be. A list then reads a hundred empty shards. */
export const maxGap = 1_000_000;

/**
 * How far the counter of a table is raised above that of the table before, just before a switch. Until a stack update of
 * some minutes ends, both give ids: a counter at most 1,000 a second, the writes of a partition.
 */
const switchMargin = 500_000;

/** How often a counter that somebody else changes meanwhile is written. */
const maxAttempts = 10;

const Key = Object.fromEntries(Object.entries(counterKey).map(([name, value]) => [name, { N: String(value) }]));

/** The attribute `lastId` of the counter as it is stored, whatever it is. */
type StoredCounter = AttributeValue | undefined;

async function readStored(client: DynamoDB, TableName: string): Promise<StoredCounter> {
  return (await client.getItem({ TableName, Key, ConsistentRead: true })).Item?.lastId;
}

function parseCounter(stored: StoredCounter): number | undefined {
  const lastId = Number(stored?.N ?? Number.NaN);
  return Number.isSafeInteger(lastId) && lastId >= 0 ? lastId : undefined;
}

/** @returns the last id that was drawn; `undefined` when the counter is missing or not a number from 0 to 2^53-1 */
export async function readCounter(client: DynamoDB, TableName: string): Promise<number | undefined> {
  return parseCounter(await readStored(client, TableName));
}

/** Sets a counter that is still as it was read, or that is lower anyway. @returns whether it was */
async function setCounter(client: DynamoDB, TableName: string, stored: StoredCounter, lastId: number) {
  const isAsRead = stored === undefined ? 'attribute_not_exists(lastId)' : 'lastId = :stored';
  try {
    await client.updateItem({
      TableName,
      Key,
      UpdateExpression: 'SET lastId = :lastId',
      ConditionExpression: `${isAsRead} OR lastId < :lastId`,
      ExpressionAttributeValues: { ':lastId': { N: String(lastId) }, ...(stored && { ':stored': stored }) },
    });
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/**
 * Raises the counter of a table, unless it is at `lastId` or above. A counter that no number can be read from is replaced.
 *
 * @throws {StageError} when others change it all the time
 */
export async function raiseCounter(client: DynamoDB, TableName: string, lastId: number): Promise<void> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const stored = await readStored(client, TableName);
    if ((parseCounter(stored) ?? -1) >= lastId) return;
    if (await setCounter(client, TableName, stored, lastId)) return;
  }
  throw new StageError(`The counter of ${TableName} could not be set to ${lastId}: others change it at the same time.`);
}

/** What a table holds. */
export interface StoredTable {
  readonly name: string;
  /** Its usable counter. */
  readonly lastId: number | undefined;
  readonly ids: StoredIds;
}

/** @returns the last id that was drawn; the highest id in the table when its counter is lost */
export function findLastId({ lastId, ids }: Omit<StoredTable, 'name'>): number {
  return lastId ?? ids.highestId ?? 0;
}

/**
 * Checks that no counter is so far above the ids in all tables that every list would take minutes.
 *
 * @throws {StageError} which says what to do
 */
export function checkCounters(stage: string, tables: readonly StoredTable[]): void {
  const highestId = tables.reduce((highest, { ids }) => Math.max(highest, ids.highestId ?? 0), 0);
  const wrong = tables.find(({ lastId = 0 }) => lastId > highestId + maxGap);
  if (wrong === undefined) return;
  const { name, lastId } = wrong;
  const command = `npm run counter -- --stage ${stage} --table ${name}`;
  throw new StageError(
    `The counter of ${name} is at ${lastId}, over a million above the highest id, ${highestId}. If somebody has set it, lower it: ${command}. If deletions have left the gap, add --yes.`,
  );
}

/**
 * Raises the counter of a table above that of the one before, directly before a switch.
 *
 * @param before - the table before, as it was read; the table itself when that is deleted
 * @returns the counter
 */
export async function raiseForSwitch(client: DynamoDB, before: StoredTable, table: string): Promise<number> {
  const lastId = findLastId({ lastId: await readCounter(client, before.name), ids: before.ids });
  await raiseCounter(client, table, lastId + switchMargin);
  return lastId + switchMargin;
}

/**
 * Checks that the table before has not given ids of the new one during the switch.
 *
 * @param raisedId - the counter of the new one before the switch
 * @throws {StageError} with the ids that may have been given twice
 */
export async function checkAfterSwitch(client: DynamoDB, before: string, table: string, raisedId: number) {
  const lastId = (await readCounter(client, before)) ?? 0;
  if (lastId <= raisedId) return;
  await raiseCounter(client, table, lastId);
  throw new StageError(
    `Both tables may have given the ids from ${raisedId + 1} to ${lastId}: ${before} has drawn them too.`,
  );
}

/** What a table has, and what its counter may be set to. */
export type CounterPlan = Awaited<ReturnType<typeof planCounter>>;

/**
 * Compares the counter of a table with the ids in it.
 *
 * @param atLeast - an id that was given, and that the table may have forgotten
 * @returns the counter; the highest id; what the counter has to be raised to, if it is missing or too low; the gap below
 *   books or a counter that are far above the others, and what the counter can be lowered to
 * @throws {StageError} when `atLeast` is so high that every list would take minutes
 */
export async function planCounter(client: DynamoDB, TableName: string, atLeast = 0) {
  const stored = await readStored(client, TableName);
  const lastId = parseCounter(stored);
  const ids = await findStoredIds(client, TableName);
  const { highestId } = ids;
  const limit = (highestId ?? 0) + maxGap;
  if (atLeast > limit) {
    throw new StageError(`The highest id in the table is ${highestId ?? 0}: --at-least may be ${limit}.`);
  }
  const gap = findGap(ids, lastId ?? 0, maxGap);
  // The ids of deleted books above the gap are drawn again only after a million others.
  const isLowered = gap?.books === 0 && lastId !== undefined && lastId >= gap.below && lastId < gap.above;
  const neededId = Math.max((isLowered ? gap.below : highestId) ?? 0, atLeast);
  const isWrong = lastId === undefined ? highestId !== undefined : lastId < neededId;
  const repairedId = isWrong ? Math.max((highestId ?? 0) + counterMargin, atLeast) : undefined;
  const loweredId = gap && Math.max(gap.below + counterMargin, atLeast);
  return { stored, lastId, highestId, repairedId, ids, gap, loweredId };
}

/**
 * Moves the books above a gap below it, under ids that nobody has, and sets the counter to the last of these. When it is
 * interrupted, the same command goes on.
 *
 * @param onMove - is told the old and the new id of each book before it is moved
 * @returns the counter
 * @throws {StageError} when clients create or change books meanwhile
 */
export async function closeGap(
  client: DynamoDB,
  TableName: string,
  { stored, lastId, ids, gap, loweredId }: CounterPlan & { readonly gap: Gap; readonly loweredId: number },
  onMove: (oldId: number, newId: number) => void = () => {},
): Promise<number> {
  const isAbove = lastId === undefined || lastId >= gap.above;
  const start = Math.max(loweredId, isAbove ? 0 : lastId);
  // New books may not get these ids either.
  if (!isAbove) await raiseCounter(client, TableName, start + gap.books);
  let newId = start;
  for await (const item of readBooksAbove(client, TableName, ids, gap.below)) {
    newId += 1;
    onMove(Number(item.id?.N), newId);
    await moveBook(client, TableName, item, newId);
  }
  if (!isAbove) return Math.max(start + gap.books, newId);
  if (!(await setCounter(client, TableName, stored, newId))) {
    throw new StageError(
      'The counter has not been lowered: books are created. Stop createBook, and repeat the command.',
    );
  }
  // A create that had drawn its id before may have stored its book since the ids were read.
  const { shards } = await findStoredIds(client, TableName);
  const hidden = shards.filter(({ highestId, books }) => books > 0 && highestId > newId);
  if (hidden.length === 0) return newId;
  throw new StageError(
    `The counter is at ${newId}, and a book was created above it meanwhile. Stop createBook, and add --move.`,
  );
}
