/**
 * `npm run verify:emulator`: the life of the stage prod on an AWS emulator, by the pipeline's commands and those of an operator.
 * Exit code 77 without Python.
 */

import assert from 'node:assert/strict';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { groupNames } from '../../../conformance/suite.ts';
import { checkBoundary, enforceBoundary } from './boundary.ts';
import { checkDeployerLimits } from './deployer.ts';
import { checkAccessLog, checkSettings, deployAndTest, failToDeploy, fixWithAlarmOn, rollBack } from './deploys.ts';
import { type EmulatedStage, StackName, stage, startEmulatedStage } from './emulated-stage.ts';
import { changeByHand, tryFirstCommands } from './incidents.ts';
import {
  checkTable,
  failToSwitch,
  repairCounter,
  replaceDeletedTable,
  restoreDeletedTable,
  restoreUnderTraffic,
} from './restores.ts';
import { rotate } from './rotation.ts';
import { stopAndGoOn } from './stops.ts';
import { deployAndRemove } from './temporary-stages.ts';

const settings = {
  alarmEmail: 'oncall@example.com',
  corsOrigin: 'https://docs.example.com',
  tokenLifetime: '600',
};

// On the emulator, lists take as long as all the others. They run with AWS's runtime client (test/aws/runtime).
const groups = groupNames.filter((name) => name !== 'lists');

const emulated = await startEmulatedStage();
try {
  step('Make the deployer stack');
  await emulated.createDeployer();
  await walk(emulated);
} catch (error) {
  process.stderr.write(`${emulated.log()}\n`);
  throw error;
} finally {
  await emulated.stop();
}

async function walk({ project, run, spawn, findDeployment, withCatalog }: EmulatedStage): Promise<void> {
  step('The first deploy');
  await deployAndTest(emulated, [], groups);
  const firstDeployment = await findDeployment();
  const book = await withCatalog((catalog) => catalog.createBook());

  step('From here on the boundary is in force');
  await enforceBoundary();
  await checkDeployerLimits(stage, await checkBoundary());

  step('A deploy with other parameters: nothing breaks, the books are kept');
  project.setParameters(settings);
  await deployAndTest(emulated, ['RollbackAlarm'], ['books', 'cross-origin', 'token-endpoint', 'unknown-paths']);
  assert.notEqual(await findDeployment(), firstDeployment);
  await checkSettings(settings);
  await checkAccessLog();
  await withCatalog((catalog) => catalog.expectStored(book));

  step('A temporary stage beside it: removed without leaving anything');
  await deployAndRemove(emulated);

  step('A version that fails the smoke test: a rollback restores the one before');
  await rollBack(emulated);
  await checkSettings(settings);

  step('A deploy by hand: an alarm that is on already does not roll its fix back');
  await fixWithAlarmOn(emulated);
  await checkSettings(settings);

  step('A deploy that fails ends when the stack is at rest');
  await failToDeploy(emulated);

  step('Rotate the secrets');
  await rotate(emulated);

  step('The first command for everything that somebody may see in the night');
  await tryFirstCommands(emulated);

  step('Changes by hand are found and taken back');
  await changeByHand(emulated);

  step('Stop parts of the stage by the commands of the document, and undo it');
  await stopAndGoOn(emulated);

  step('Repair a lost counter by the commands of the document');
  await repairCounter(emulated);

  step('Restore the deleted table under its own name');
  await restoreDeletedTable(emulated, book);

  step('Restore the books while clients read');
  await restoreUnderTraffic(emulated, book);

  step('A switch that fails leaves the table; a deploy keeps it');
  await failToSwitch(emulated);

  step("The stage's table is deleted: another one takes its place");
  await replaceDeletedTable(emulated);
  await withCatalog((catalog) => catalog.expectStored(book));

  step('Remove, after the protection of the stack has been turned off: the tables are kept');
  assert.match((await spawn('remove')).stdout, /deletion protection is enabled/);
  await removeStage(emulated);
  const { Table } = await new DynamoDB().describeTable({ TableName: StackName });
  assert.equal(Table?.DeletionProtectionEnabled, true);

  step('Deploy once more: the stack adopts its own table');
  await run('deploy');
  await checkTable(StackName);
  await withCatalog((catalog) => catalog.expectStored(book));
  await checkSettings(settings);
  process.stdout.write('\nAll of it works.\n');
}

async function removeStage({ run }: EmulatedStage): Promise<void> {
  await new CloudFormation().updateTerminationProtection({ StackName, EnableTerminationProtection: false });
  assert.match((await run('remove')).stderr, /The next deploy of this stage uses the table book-catalog-prod\./);
}

function step(title: string): void {
  process.stdout.write(`\n--- ${title} (${Math.round(performance.now() / 1000)} s)\n`);
}
