/** `npm run counter -- --stage S`: compares the counter of a table with the ids in it, and repairs or lowers it. */

import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { reportStageError, StageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { checkTableName, readStack } from './deployed-stage.ts';
import { readBooksAbove } from './move-books.ts';
import { type CounterPlan, closeGap, maxGap, planCounter, raiseCounter } from './stored-counter.ts';

const usage = `Usage: npm run counter -- --stage STAGE [options] [--repair | --lower [--move]] [--region REGION]

Compares the counter of the ids in the table of a stage with the ids in it, and says what the counter has to be:

  --table TABLE    looks at a restored table
  --repair         raises a counter that is missing or too low
  --lower          lowers a counter that somebody has set far too high: to the highest id below the gap, and some more
  --move           gives the books above the gap ids below it first, and prints the old and the new id of each
  --at-least ID    an id that was given, when it is higher than those in the table, which forgets those of deleted books
                   (docs/reliability.md)

Reads the whole table. Needs the rights of an administrator.`;

const shownIds = 10;

try {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseOptions(usage, {
    ...{ stage: text, region: text, table: text, 'at-least': text },
    ...{ repair: flag, lower: flag, move: flag },
  });
  const { stage = endWithAdvice('--stage is needed.'), 'at-least': atLeast = '0', repair, lower, move } = values;
  if (!/^\d{1,15}$/.test(atLeast)) endWithAdvice('--at-least has to be an id.');
  if (repair && lower) endWithAdvice('--repair raises the counter, and --lower lowers it: give one of them.');
  if (move && !lower) endWithAdvice('--move needs --lower.');
  selectTarget(stage, values.region);
  const stack = await readStack(stage);
  const { table = stack.outputs.BookTableName ?? '' } = values;
  checkTableName(stage, table);
  await checkCounter(table, Number(atLeast), { repair, lower, move });
} catch (error) {
  process.exitCode = reportStageError(error as Error);
}

interface Change {
  readonly repair: boolean;
  readonly lower: boolean;
  readonly move: boolean;
}

async function checkCounter(table: string, atLeast: number, { repair, lower, move }: Change): Promise<void> {
  const client = new DynamoDB();
  const plan = await planCounter(client, table, atLeast);
  const counter = plan.lastId === undefined ? 'has no usable counter' : `has its counter at ${plan.lastId}`;
  console.log(`The table ${table} ${counter}. The highest id in it is ${plan.highestId ?? 0}.`);
  await printGap(client, table, plan);
  if (lower) return lowerCounter(client, table, plan, move);
  if (plan.repairedId === undefined) {
    console.log('There is nothing to repair.');
    return;
  }
  if (!repair) {
    console.log(`Nothing has been changed: add --repair to set the counter to ${plan.repairedId}.`);
    return;
  }
  await raiseCounter(client, table, plan.repairedId);
  console.log(`The counter is at ${plan.repairedId}.`);
}

/** Prints which ids are missing, and what can be done about it. */
async function printGap(client: DynamoDB, table: string, { lastId, ids, gap, loweredId }: CounterPlan): Promise<void> {
  if (gap === undefined) return;
  const { below, above, books } = gap;
  const shown: string[] = [];
  for await (const { id } of readBooksAbove(client, table, ids, below)) {
    shown.push(id?.N ?? '');
    if (shown.length === shownIds) break;
  }
  const list = books === 0 ? '' : ` (${shown.join(', ')}${books > shown.length ? ', …' : ''})`;
  console.log(`There is a gap: the table has no id between ${below} and ${above}. Books above it: ${books}${list}.`);
  if (books === 0 && lastId !== undefined && lastId < above) return;
  const option = books === 0 ? '--lower' : '--lower --move, which gives these books other ids';
  console.log(
    'If deletions have left the gap, leave it. If somebody has set the counter, stop createBook, wait for a minute,',
  );
  console.log(`and add ${option}. New books then get ids from ${(loweredId ?? 0) + 1 + books} on.`);
  console.log('When clients may hold a higher id below the gap, add it as well: --at-least ID (docs/incidents.md).');
}

async function lowerCounter(client: DynamoDB, table: string, plan: CounterPlan, moves: boolean): Promise<void> {
  const { lastId, gap, loweredId } = plan;
  if (gap === undefined || loweredId === undefined || (gap.books === 0 && lastId !== undefined && lastId < gap.above)) {
    throw new StageError('There is nothing to lower.');
  }
  if (loweredId > gap.below + maxGap) {
    throw new StageError(`The highest id below the gap is ${gap.below}: --at-least may be ${gap.below + maxGap}.`);
  }
  if (gap.books > 0 && !moves) {
    throw new StageError(`Nothing has been changed: ${gap.books} books are above the gap. Add --move.`);
  }
  if (gap.books > 0) console.log('Old and new ids. For an id that is there twice, the last line counts:');
  const counter = await closeGap(client, table, { ...plan, gap, loweredId }, (oldId, newId) =>
    console.log(`${oldId} ${newId}`),
  );
  console.log(`The counter is at ${counter}. ${gap.above} is given again after ${gap.above - counter - 1} more books.`);
}
