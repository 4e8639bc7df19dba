import pLimit from 'p-limit';
import { CounterError } from './errors.ts';
import { counterKey } from './keys.ts';
import { type Item, parseCounter } from './stored-items.ts';
import type { Table } from './table.ts';

/** What an operator has to do when the counter is wrong. */
export const repairAdvice = '`npm run counter` repairs it (docs/incidents.md, "A CounterError")';

/** The counter item, from which the ids of books are drawn: 1, 2, 3, … An id is never drawn twice. */
export class Counter {
  readonly #table: Table;
  readonly #drawing = pLimit(1);
  #drawn: number[] = [];

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Draws a new id. Creates that wait for an id share the next draw, which saves a third of the CPU time of an import
   * (docs/decisions.md).
   *
   * @throws {CounterError | StorageUnavailableError}
   */
  drawId(): Promise<number> {
    return this.#drawing(async () => {
      if (this.#drawn.length === 0) this.#drawn = await this.#drawIds(1 + this.#drawing.pendingCount);
      return this.#drawn.shift() as number;
    });
  }

  /**
   * Reads the last id that was drawn, 0 for an empty table.
   *
   * @throws {CounterError} when the table holds items and no counter: a list would end too soon and look complete, and
   *   a new counter would draw ids that are in use
   * @throws {StorageUnavailableError}
   */
  async readLastId(): Promise<number> {
    const readCounter = () => this.#table.get(counterKey, parseCounter);
    const lastId = (await readCounter()) ?? ((await this.#table.isEmpty()) ? 0 : await readCounter());
    if (lastId !== undefined) return lastId;
    throw new CounterError(`the table has items and no counter: ${repairAdvice}`);
  }

  /** A lost response needs no reading here: an `ADD` that is carried out twice leaves a gap between ids. */
  #drawIds(count: number): Promise<number[]> {
    const max = Number.MAX_SAFE_INTEGER - count;
    const inBounds = 'lastId BETWEEN :zero AND :max';
    let condition = inBounds;
    const parse = (item: Item) => {
      const last = parseCounter(item, count);
      return Array.from({ length: count }, (_, index) => last - count + 1 + index);
    };
    return this.#table.attempts.write({
      send: ({ abortSignal }) => {
        const input = {
          Key: counterKey,
          UpdateExpression: 'ADD lastId :count',
          ConditionExpression: condition,
          ExpressionAttributeValues: { ':count': count, ':zero': 0, ':max': max },
          ReturnValues: 'UPDATED_NEW' as const,
        };
        return this.#table.update(input, parse, abortSignal);
      },
      resolve: async (_lost, refusal) => {
        const lastId = refusal && (await this.readLastId());
        if (lastId && lastId > max) throw new CounterError('the counter is at 2^53-1, the highest id');
        // In an empty table, the next attempt creates the counter.
        if (lastId === 0) condition = `attribute_not_exists(lastId) OR ${inBounds}`;
        return undefined;
      },
    });
  }
}
