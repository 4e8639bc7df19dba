import { CounterError, StorageUnavailableError } from '../connection/errors.ts';
import { counterKey } from '../table/keys.ts';
import { type Item, parseInteger } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';

/** What an operator has to do when the counter is wrong. */
export const repairAdvice = 'docs/incidents.md#a-countererror repairs it';

/** The highest id: larger numbers of JSON are not exact. */
const maxId = Number.MAX_SAFE_INTEGER;

const isBelowMax = 'lastId BETWEEN :zero AND :max';

/**
 * Draws a new id from the counter item: 1, 2, 3, … No id is drawn twice. An `ADD` that is carried out twice, or whose response
 * is lost, leaves a gap between ids, so its outcome is of no interest to the client.
 *
 * @throws {CounterError | StorageUnavailableError}
 */
export async function drawId(table: Table): Promise<number> {
  let condition = isBelowMax;
  for (;;) {
    const { value, refusal, lost } = await table.write((abortSignal) => {
      const input = {
        Key: counterKey,
        UpdateExpression: 'ADD lastId :one',
        ConditionExpression: condition,
        ExpressionAttributeValues: { ':one': 1, ':zero': 0, ':max': maxId - 1 },
        ReturnValues: 'UPDATED_NEW' as const,
      };
      return table.update(input, parseDrawnId, abortSignal);
    });
    if (value !== undefined) return value;
    if (lost && !refusal) throw new StorageUnavailableError(lost.message, { cause: lost });
    const lastId = await readLastId(table);
    if (lastId === maxId) throw new CounterError('the counter is at 2^53-1, the highest id');
    // In an empty table, the next attempt creates the counter.
    if (lastId === 0) condition = `attribute_not_exists(lastId) OR ${isBelowMax}`;
  }
}

/**
 * Reads the last id that was drawn, 0 for an empty table.
 *
 * @throws {CounterError} when the counter is not a whole number, or when the table holds items and no counter: a list would
 *   end too soon and look complete, and a new counter would draw ids that are in use
 * @throws {StorageUnavailableError}
 */
export async function readLastId(table: Table): Promise<number> {
  const lastId = await table.get(counterKey, parseLastId);
  if (lastId !== undefined) return lastId;
  if (await table.isEmpty()) return 0;
  // Others may have created the first book since.
  const lastIdNow = await table.get(counterKey, parseLastId);
  if (lastIdNow !== undefined) return lastIdNow;
  throw new CounterError(`the table has items and no counter: ${repairAdvice}`);
}

/** @throws {CounterError} when the stored counter is damaged */
function parseLastId({ lastId }: Item): number {
  if (Number.isSafeInteger(lastId) && Number(lastId) >= 0) return lastId as number;
  throw new CounterError(`the counter is not a whole number from 0 to 2^53-1: ${repairAdvice}`);
}

/** @throws {CounterError} for a damaged counter @throws {AttemptError} when the response is not that of a draw */
function parseDrawnId(item: Item): number {
  // The condition lets a fraction pass.
  if (typeof item.lastId === 'number') parseLastId(item);
  return parseInteger(item.lastId, 'the counter has no "lastId"', 1);
}
