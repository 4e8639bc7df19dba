/** `npm run restore -- --stage S --table T`: prepares a restored table for a stage, and switches the stage to it. */

import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { stackNameOf } from '../../serverless/deploy/stack.ts';
import { isTemporary, reportExpectedError, StageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { readStack } from './deployed-stage.ts';
import { completeTable, raiseCounter, readCounter, waitUntilActive } from './restored-table.ts';
import { switchStack } from './switch-table.ts';

const usage = `Usage: npm run restore -- --stage STAGE --table TABLE [--switch] [--region REGION]

Prepares a table that DynamoDB restores: waits until it is active, and gives it what a restore leaves out, which is
recovery, time to live, tags and deletion protection.

  --switch   raises the counter of the table above all ids that were given, and makes the stage use it. Nothing is
             deployed: code, template and other parameters stay as they are, and the table before keeps its books

A table that was deleted, and restored under its own name, needs no switch. Needs the rights of an administrator.`;

/**
 * How far the counter of a restored table is raised above that of the live one. Until the update of the stack ends, some
 * minutes later, both give ids, at most 1,000 a second, the writes of a partition.
 */
const switchMargin = 500_000;

/** The same for a table that was deleted, whose backup may be older than its last ids. */
const deletedMargin = 10_000;

try {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseOptions(usage, { stage: text, region: text, table: text, switch: flag });
  const { stage = endWithAdvice('--stage is needed.'), table = endWithAdvice('--table is needed.') } = values;
  selectTarget(stage, values.region);
  if (isTemporary(stage)) {
    throw new StageError(`The books of ${stage} are not kept. A restore is for a permanent stage.`);
  }
  await restore(stage, table, values.switch);
} catch (error) {
  process.exitCode = reportExpectedError(error as Error);
}

async function restore(stage: string, table: string, switches: boolean): Promise<void> {
  if (!`${table}-`.startsWith(`${stackNameOf(stage)}-`)) {
    throw new StageError(`The functions may use tables with names of ${stackNameOf(stage)}-* only.`);
  }
  const client = new DynamoDB();
  const stack = await readStack(stage);
  const { BookTableName: live = '' } = stack.outputs;
  console.log(`Stage ${stage} uses the table ${live}.`);
  await waitUntilActive(client, table);
  await completeTable(client, table, stack.tags);
  if (table === live) {
    const lastId = await readCounter(client, table);
    if (lastId !== undefined) await raiseCounter(client, table, lastId + deletedMargin);
    console.log(`${table} is ready. There is nothing to switch.`);
    return;
  }
  if (!switches) {
    console.log(`${table} is ready. Nothing has been switched: add --switch, or delete the table.`);
    return;
  }
  const lastId = (await readCounter(client, live)) ?? (await readCounter(client, table));
  if (lastId !== undefined) await raiseCounter(client, table, lastId + switchMargin);
  await switchStack(stage, stack, table);
  console.log(`Stage ${stage} uses ${table}. ${live} is as it was; it costs its storage until you delete it.`);
  console.log(`The way back: npm run restore -- --stage ${stage} --table ${live} --switch`);
}
