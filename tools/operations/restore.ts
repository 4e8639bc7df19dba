/** `npm run restore -- --stage S --table T`: prepares a restored table for a stage, and switches the stage to it. */

import { writeFileSync } from 'node:fs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { type StageStack, stackNameOf } from '../../serverless/deploy/stack.ts';
import { reportStageError, StageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { readStack } from './deployed-stage.ts';
import { completeTable, isComplete, tableExists, waitUntilActive } from './restored-table.ts';
import { bringBooksBack, compareBooks } from './stored-books.ts';
import { counterMargin, findLastId, raiseCounter } from './stored-counter.ts';
import { switchStack, writeTableSetting } from './switch-table.ts';

const usage = `Usage: npm run restore -- --stage STAGE --table TABLE [--report FILE] [--bring-back | --switch] [--region REGION]

Prepares a table that DynamoDB has restored: waits until it is active, gives it recovery, time to live, deletion
protection and tags, and raises its counter above that of the table of the stage. A table that was deleted, and restored
under its own name, needs nothing more. Otherwise the command compares the books of both tables:

  --report FILE   writes the ids of all books that differ to a file, as JSON
  --bring-back    puts the books that only the restored table has into the table of the stage, under their ids
  --switch        makes the stage use the restored table. Nothing is deployed: code, template and other settings stay as
                  they are, and the table before keeps its books

Needs the rights of an administrator.`;

const shownIds = 10;

try {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { stage: text, region: text, table: text, report: text, 'bring-back': flag, switch: flag };
  const { values } = parseOptions(usage, options);
  const { stage = endWithAdvice('--stage is needed.'), table = endWithAdvice('--table is needed.') } = values;
  const { report, 'bring-back': bringsBack, switch: switches } = values;
  const compares = bringsBack || report !== undefined;
  if (compares && switches) endWithAdvice('--switch compares nothing: leave out --report and --bring-back.');
  selectTarget(stage, values.region);
  await restore(stage, table, { report, bringsBack, switches });
} catch (error) {
  process.exitCode = reportStageError(error as Error);
}

interface RestoreOptions {
  readonly report: string | undefined;
  readonly bringsBack: boolean;
  readonly switches: boolean;
}

async function restore(stage: string, table: string, options: RestoreOptions): Promise<void> {
  const client = new DynamoDB();
  const stack = await readStack(stage);
  const { BookTableName: live = '' } = stack.outputs;
  if (!`${table}-`.startsWith(`${stackNameOf(stage)}-`)) {
    throw new StageError(`The functions may use tables with names of ${stackNameOf(stage)}-* only.`);
  }
  if (!(await tableExists(client, table))) throw new StageError(`There is no table ${table}.`);
  const hasLive = await tableExists(client, live);
  console.log(`Stage ${stage} uses the table ${live}${hasLive ? '.' : ', which does not exist.'}`);
  const isCompared = hasLive && live !== table;
  if (!isCompared && (options.bringsBack || options.report !== undefined)) {
    throw new StageError(`There is no other table to compare ${table} with.`);
  }
  await waitUntilActive(client, table);
  // A table that the stage uses, and that is complete, was not restored just now.
  if (live !== table || !(await isComplete(client, table))) {
    // Without the live table, nobody knows which ids it gave to books after the moment.
    await raiseCounter(client, table, (await findLastId(client, hasLive ? live : table)) + counterMargin);
  }
  await completeTable(client, table, stack.tags);
  if (live === table) {
    if (options.switches) await writeTableSetting(stage, table);
    console.log(`${table} is ready. There is nothing to switch.`);
    return;
  }
  if (options.switches) return switchTable(client, stage, stack, { live: hasLive ? live : undefined, table });
  if (isCompared) await compare(client, { live, table }, options);
  console.log(`${table} is ready. Nothing has been switched: add --switch, or delete the table.`);
}

/** Compares the books of two tables, and brings back those that the live one lacks, if that is wanted. */
async function compare(
  client: DynamoDB,
  { live, table }: { readonly live: string; readonly table: string },
  { report, bringsBack }: RestoreOptions,
): Promise<void> {
  const lastId = await findLastId(client, table);
  const { same, changed, onlyInFirst, onlyInSecond } = await compareBooks(client, live, table, lastId);
  const list = (ids: readonly number[]) => {
    const shown = ids.slice(0, shownIds).join(', ');
    return ids.length === 0 ? '0' : `${ids.length} (${shown}${ids.length > shownIds ? ', …' : ''})`;
  };
  console.log(`Books, by id: ${same} are the same in both tables.`);
  console.log(`Changed back by a switch to ${table}: ${list(changed)}`);
  console.log(`Lost: ${list(onlyInFirst)}`);
  console.log(`Brought back: ${list(onlyInSecond)}`);
  if (report !== undefined) {
    writeFileSync(report, JSON.stringify({ changedBack: changed, lost: onlyInFirst, broughtBack: onlyInSecond }));
    console.log(`All ids are in ${report}.`);
  }
  if (!bringsBack) return;
  const count = await bringBooksBack(client, { from: table, to: live }, onlyInSecond);
  console.log(`${count} books have been brought back to ${live}.`);
}

/** @param tables - the live table, unless it is deleted, and the one that takes its place */
async function switchTable(
  client: DynamoDB,
  stage: string,
  stack: StageStack,
  { live, table }: { readonly live: string | undefined; readonly table: string },
): Promise<void> {
  await switchStack(stage, stack, table);
  // Not before: the setting of a switch that failed would make the next deploy switch.
  await writeTableSetting(stage, table);
  console.log(`Stage ${stage} uses ${table}.`);
  if (live === undefined) return;
  // Books that were created in the old table during the switch must not share their ids with others.
  await raiseCounter(client, table, await findLastId(client, live));
  console.log(`${live} is as it was; it costs its storage until you delete it.`);
  console.log(`The way back: npm run restore -- --stage ${stage} --table ${live} --switch`);
}
