/** `npm run restore -- --stage S --table T`: prepares a restored table for a stage, and switches the stage to it. */

import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { type StageStack, stackNameOf } from '../../serverless/deploy/stack.ts';
import { reportStageError, StageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { readStack } from './deployed-stage.ts';
import { completeTable, tableExists } from './restored-table.ts';
import { compareBooks, raiseCounter, readCounter } from './stored-books.ts';
import { switchStack, writeTableSetting } from './switch-table.ts';

const usage = `Usage: npm run restore -- --stage STAGE --table TABLE [--switch] [--region REGION]

Prepares a table that DynamoDB has restored: waits until it is active, gives it recovery, time to live, deletion
protection and tags, and raises its counter above that of the table of the stage. Then it compares the books of both
tables; or with --switch, it makes the stage use the restored table. A switch deploys nothing: code, template and other
settings stay as they are, and the table before keeps its books. Needs the rights of an administrator.`;

/** How far the restored counter is above that of the live table, which goes on counting until the switch. */
const counterMargin = 10_000;

const shownIds = 10;

try {
  const text = { type: 'string' } as const;
  const options = { stage: text, region: text, table: text, switch: { type: 'boolean', default: false } } as const;
  const { values } = parseOptions(usage, options);
  const { stage = endWithAdvice('--stage is needed.'), table = endWithAdvice('--table is needed.') } = values;
  selectTarget(stage, values.region);
  await restore(stage, table, values.switch);
} catch (error) {
  process.exitCode = reportStageError(error as Error);
}

async function restore(stage: string, table: string, switches: boolean): Promise<void> {
  const client = new DynamoDB();
  const stack = await readStack(stage);
  const { BookTableName: live = '' } = stack.outputs;
  if (!`${table}-`.startsWith(`${stackNameOf(stage)}-`)) {
    throw new StageError(`The functions may use tables with names of ${stackNameOf(stage)}-* only.`);
  }
  if (!(await tableExists(client, table))) throw new StageError(`There is no table ${table}.`);
  const hasLive = await tableExists(client, live);
  console.log(`Stage ${stage} uses the table ${live}${hasLive ? '.' : ', which does not exist.'}`);
  if (live === table) {
    if (switches) await writeTableSetting(stage, table);
    console.log('There is nothing to switch.');
    return;
  }
  await completeTable(client, table, stack.tags);
  // Without the live table, nobody knows which ids it gave to books after the moment.
  await raiseCounter(client, table, (await readCounter(client, hasLive ? live : table)) + counterMargin);
  if (switches) return switchTable(client, stage, stack, { live: hasLive ? live : undefined, table });
  if (hasLive) await printComparison(client, live, table);
  console.log(`${table} is ready. Nothing has been switched: add --switch, or delete the table.`);
}

async function printComparison(client: DynamoDB, live: string, table: string): Promise<void> {
  const lastId = await readCounter(client, table);
  const { same, changed, onlyInFirst, onlyInSecond } = await compareBooks(client, live, table, lastId);
  const list = (ids: readonly number[]) => {
    const shown = ids.slice(0, shownIds).join(', ');
    return ids.length === 0 ? '0' : `${ids.length} (${shown}${ids.length > shownIds ? ', …' : ''})`;
  };
  console.log(`Books, by id: ${same} are the same in both tables.`);
  console.log(`Changed back by a switch to ${table}: ${list(changed)}`);
  console.log(`Lost: ${list(onlyInFirst)}`);
  console.log(`Brought back: ${list(onlyInSecond)}`);
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
  await raiseCounter(client, table, await readCounter(client, live));
  console.log(`${live} is as it was; it costs its storage until you delete it.`);
  console.log(`The way back: npm run restore -- --stage ${stage} --table ${live} --switch`);
}
