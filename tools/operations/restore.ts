/** `npm run restore -- --stage S --table T`: prepares a restored table for a stage, and switches the stage to it. */

import { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { StageStack } from '../../serverless/deploy/stack.ts';
import { isTemporary, reportStageError, StageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, inCallersFolder, parseOptions } from '../parse-options.ts';
import { openReport, readReport } from './book-report.ts';
import { checkTableName, readStack } from './deployed-stage.ts';
import { completeTable, isComplete, tableExists, waitUntilActive } from './restored-table.ts';
import { type BookIds, bringBooksBack, compareBooks, type Tables } from './stored-books.ts';
import {
  checkAfterSwitch,
  checkCounters,
  counterMargin,
  findLastId,
  raiseCounter,
  raiseForSwitch,
  readCounter,
  type StoredTable,
} from './stored-counter.ts';
import { findStoredIds } from './stored-ids.ts';
import { switchStack, writeTableSetting } from './switch-table.ts';

const usage = `Usage: npm run restore -- --stage STAGE --table TABLE [options] [--bring-back [--ids FILE] | --switch] [--region REGION]

Prepares a table that DynamoDB has restored: waits until it is active, and gives it recovery, time to live, deletion
protection and tags. A table that was deleted, and restored under its own name, also gets a counter above all ids that
were given. Otherwise the command compares the books of both tables:

  --report FILE   writes a line for each book that differs to a file: changed, created or deleted since the moment, and
                  the id
  --bring-back    puts the books that only the restored table has into the table of the stage, under their ids
  --ids FILE      brings back only the books of this file: lines of a report. Changed books get their old fields, and
                  created ones are left alone
  --switch        makes the stage use the restored table. Nothing is deployed: code, template and other settings stay as
                  they are, and the table before keeps its books
  --yes           goes on although a counter is far above all books, or a switch loses most of them

Needs the rights of an administrator.`;

const shownIds = 10;

/** A switch to a table with a smaller share of the books has to be confirmed. */
const keptShare = 0.5;

/** Progress is printed after this many shards, of up to 10,000 books. */
const shardsPerLine = 10;

try {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseOptions(usage, {
    ...{ stage: text, region: text, table: text, report: text, ids: text },
    ...{ 'bring-back': flag, switch: flag, yes: flag },
  });
  const { stage = endWithAdvice('--stage is needed.'), table = endWithAdvice('--table is needed.'), ids, yes } = values;
  const { report, 'bring-back': bringsBack, switch: switches } = values;
  const compares = bringsBack || report !== undefined;
  if (compares && switches) endWithAdvice('--switch compares nothing: leave out --report and --bring-back.');
  if (ids !== undefined && (!bringsBack || report !== undefined)) {
    endWithAdvice('--ids needs --bring-back, and compares nothing: leave out --report.');
  }
  selectTarget(stage, values.region);
  if (isTemporary(stage))
    throw new StageError(`The books of ${stage} are not kept. A restore is for a stage that lasts.`);
  const chosen = ids === undefined ? undefined : readReport(inCallersFolder(ids));
  const writeReport = report === undefined ? undefined : openReport(inCallersFolder(report));
  await restore(stage, table, { writeReport, bringsBack, chosen, switches, yes });
} catch (error) {
  process.exitCode = reportStageError(error as Error);
}

interface RestoreOptions {
  readonly writeReport: ((ids: BookIds) => void) | undefined;
  readonly bringsBack: boolean;
  /** The books to bring back. */
  readonly chosen: BookIds | undefined;
  readonly switches: boolean;
  readonly yes: boolean;
}

async function restore(stage: string, table: string, options: RestoreOptions): Promise<void> {
  const client = new DynamoDB();
  const stack = await readStack(stage);
  const { BookTableName: live = '' } = stack.outputs;
  checkTableName(stage, table);
  if (!(await tableExists(client, table))) throw new StageError(`There is no table ${table}.`);
  const hasLive = await tableExists(client, live);
  console.log(`Stage ${stage} uses the table ${live}${hasLive ? '.' : ', which does not exist.'}`);
  const isCompared = hasLive && live !== table;
  if (!isCompared && (options.bringsBack || options.writeReport)) {
    throw new StageError(`There is no other table to compare ${table} with.`);
  }
  await waitUntilActive(client, table);
  if (live === table) {
    await completeOwnTable(client, stage, stack, table, options);
    return;
  }
  const stored = await readTables(client, { live: hasLive ? live : undefined, restored: table });
  if (!options.yes) checkCounters(stage, stored.live ? [stored.live, stored.restored] : [stored.restored]);
  await completeTable(client, table, stack.tags);
  if (options.switches) {
    checkLosses(stored, options.yes);
    await switchTable(client, stage, stack, stored);
    return;
  }
  if (options.chosen) await bringBack(client, { live, restored: table }, options.chosen);
  else if (stored.live) await compare(client, stored.live, stored.restored, options);
  console.log(`${table} is ready. Nothing has been switched: add --switch, or delete the table.`);
}

/** Completes a table that was deleted, and restored under its own name. */
async function completeOwnTable(
  client: DynamoDB,
  stage: string,
  stack: StageStack,
  table: string,
  { switches, yes }: RestoreOptions,
): Promise<void> {
  // A table that is complete was not restored just now.
  if (!(await isComplete(client, table))) {
    const { restored } = await readTables(client, { live: undefined, restored: table });
    if (!yes) checkCounters(stage, [restored]);
    // Nobody knows which ids the deleted table gave to books after the moment.
    await raiseCounter(client, table, findLastId(restored) + counterMargin);
  }
  await completeTable(client, table, stack.tags);
  if (switches) await writeTableSetting(stage, table);
  console.log(`${table} is ready. There is nothing to switch.`);
}

/** The table of a stage, unless it is deleted, and the restored one. */
interface StoredTables {
  readonly live: StoredTable | undefined;
  readonly restored: StoredTable;
}

/** Reads the counters and the ids of the tables. */
async function readTables(
  client: DynamoDB,
  { live, restored }: { readonly live: string | undefined; readonly restored: string },
): Promise<StoredTables> {
  const read = async (name: string): Promise<StoredTable> => {
    console.log(`Reading the ids of ${name}`);
    return { name, lastId: await readCounter(client, name), ids: await findStoredIds(client, name) };
  };
  return { live: live === undefined ? undefined : await read(live), restored: await read(restored) };
}

/** @throws {StageError} when a switch would lose most books */
function checkLosses({ live, restored }: StoredTables, yes: boolean): void {
  const [now, then] = [live?.ids.books ?? 0, restored.ids.books];
  if (live) console.log(`${live.name} has ${now} books, ${restored.name} has ${then}.`);
  if (yes || (then > 0 && then >= now * keptShare)) return;
  const has = then === 0 ? 'no books' : 'less than half of the books';
  throw new StageError(`Nothing has been switched: ${restored.name} has ${has}. To switch anyway, add --yes.`);
}

/** Compares the books of two tables, and brings back those that the live one lacks, if that is wanted. */
async function compare(
  client: DynamoDB,
  live: StoredTable,
  restored: StoredTable,
  { writeReport, bringsBack }: RestoreOptions,
): Promise<void> {
  const tables = { live: live.name, restored: restored.name };
  const occupied = new Set([live, restored].flatMap(({ ids }) => ids.shards.map(({ shard }) => shard)));
  const shards = [...occupied].sort((one, other) => one - other);
  const [changed, created, deleted]: [number[], number[], number[]] = [[], [], []];
  let [same, compared] = [0, 0];
  for await (const found of compareBooks(client, tables, shards)) {
    same += found.same;
    for (const id of found.changed) changed.push(id);
    for (const id of found.created) created.push(id);
    for (const id of found.deleted) deleted.push(id);
    writeReport?.(found);
    compared += 1;
    if (compared % shardsPerLine === 0) console.log(`Compared ${compared} of ${shards.length} shards`);
  }
  const list = (found: readonly number[]) => {
    const shown = found.slice(0, shownIds).join(', ');
    return found.length === 0 ? '0' : `${found.length} (${shown}${found.length > shownIds ? ', …' : ''})`;
  };
  console.log(`Books, by id: ${same} are the same in both tables.`);
  console.log(`Changed since, and changed back by a switch: ${list(changed)}`);
  console.log(`Created since, and lost by a switch: ${list(created)}`);
  console.log(`Deleted since, and back after a switch: ${list(deleted)}`);
  if (bringsBack) await bringBack(client, tables, { changed: [], created: [], deleted });
}

async function bringBack(client: DynamoDB, tables: Tables, { changed, deleted }: BookIds): Promise<void> {
  const back = await bringBooksBack(client, tables, { changed, deleted });
  console.log(`${back.deleted} of ${deleted.length} deleted books are back in ${tables.live}.`);
  if (changed.length > 0) console.log(`${back.changed} of ${changed.length} changed books have their old fields.`);
  const left = deleted.length + changed.length - back.deleted - back.changed;
  if (left > 0)
    console.log('The others were left alone: they are as they were, not in the restored table, or changed now.');
}

async function switchTable(
  client: DynamoDB,
  stage: string,
  stack: StageStack,
  { live, restored }: StoredTables,
): Promise<void> {
  const table = restored.name;
  let raisedId = 0;
  await switchStack(stage, stack, table, async () => {
    raisedId = await raiseForSwitch(client, live ?? restored, table);
  });
  // Not before: the setting of a switch that failed would make the next deploy switch.
  await writeTableSetting(stage, table);
  console.log(`Stage ${stage} uses ${table}.`);
  if (live === undefined) return;
  console.log(`${live.name} is as it was; it costs its storage until you delete it.`);
  console.log(`The way back: npm run restore -- --stage ${stage} --table ${live.name} --switch`);
  await checkAfterSwitch(client, live.name, table, raisedId);
}
