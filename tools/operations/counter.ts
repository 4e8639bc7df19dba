/** `npm run counter -- --stage S`: compares the counter of a stage's table with the ids in it, and repairs it. */

import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { reportStageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { readStack } from './deployed-stage.ts';
import { planRepair, raiseCounter } from './stored-counter.ts';

const usage = `Usage: npm run counter -- --stage STAGE [--at-least ID] [--repair] [--region REGION]

Compares the counter of the ids in the table of a stage with the highest id in it, and says what the counter has to be.
With --repair, it raises a counter that is missing or too low. --at-least is an id that was given, when it is higher than
those in the table. Ids of deleted books are in the table for some days, and longer if they were created with an
idempotency key. Reads the whole table. Needs the rights of an administrator.`;

try {
  const text = { type: 'string' } as const;
  const repair = { type: 'boolean', default: false } as const;
  const { values } = parseOptions(usage, { stage: text, region: text, 'at-least': text, repair });
  const { stage = endWithAdvice('--stage is needed.'), 'at-least': atLeast = '0' } = values;
  if (!/^\d{1,15}$/.test(atLeast)) endWithAdvice('--at-least has to be an id.');
  selectTarget(stage, values.region);
  await checkCounter(stage, Number(atLeast), values.repair);
} catch (error) {
  process.exitCode = reportStageError(error as Error);
}

async function checkCounter(stage: string, atLeast: number, repairs: boolean): Promise<void> {
  const client = new DynamoDB();
  const { BookTableName: table = '' } = (await readStack(stage)).outputs;
  const { lastId, highestId, repairedId } = await planRepair(client, table, atLeast);
  const counter = lastId === undefined ? 'has no usable counter' : `has its counter at ${lastId}`;
  console.log(`The table ${table} ${counter}. The highest id in it is ${highestId ?? 0}.`);
  if (repairedId === undefined) {
    console.log('There is nothing to repair.');
    return;
  }
  if (!repairs) {
    console.log(`Nothing has been changed: add --repair to set the counter to ${repairedId}.`);
    return;
  }
  await raiseCounter(client, table, repairedId);
  console.log(`The counter is at ${repairedId}.`);
}
