import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { ParameterNotFound, SSM } from '@aws-sdk/client-ssm';
import type { Book } from '../../../conformance/catalog.ts';
import { readStack } from '../../../tools/operations/deployed-stage.ts';
import { checkTriggers, withStatus } from './deploys.ts';
import { type EmulatedStage, StackName, stage } from './emulated-stage.ts';

const restored = `${StackName}-20260131T120000Z`;
const second = `${StackName}-second`;
const readEveryMs = 50;

/**
 * Restores the books of a moment, which a deploy and a rollback keep. The way back to the stack's own table is in
 * test/unit/switch-table.test.ts: the emulator does not see that a condition adds a table, and creates it anew instead of
 * importing it.
 */
export async function restoreUnderTraffic(emulated: EmulatedStage, kept: Book): Promise<void> {
  const { run, restore, withCatalog, findVersion } = emulated;
  const [changed, deleted] = await withCatalog((catalog) => Promise.all([catalog.createBook(), catalog.createBook()]));
  const moment = await backUp(StackName);
  const after = await withCatalog(async (catalog) => {
    await catalog.call('PUT', `/book/${changed.id}`, { year: 1 });
    await catalog.call('DELETE', `/book/${deleted.id}`);
    return catalog.createBook();
  });

  assert.match((await restore('--table', restored)).stderr, /^There is no table /m);
  await restoreLikeAws(emulated, moment, restored);
  const prepared = await restore('--table', restored);
  assert.match(prepared.stdout, new RegExp(`Changed back by a switch to ${restored}: 1 \\(${changed.id}\\)`));
  assert.match(prepared.stdout, new RegExp(`Lost: 1 \\(${after.id}\\)\nBrought back: 1 \\(${deleted.id}\\)`));
  assert.equal(prepared.status, 0);
  await checkCompleteness(restored);
  await checkTable(StackName, undefined);

  const version = await findVersion();
  await switchUnderTraffic(emulated, restored, kept);
  await checkTable(restored, restored);
  assert.equal(await findVersion(), version);
  await withCatalog(async (catalog) => {
    for (const book of [kept, changed, deleted]) await catalog.expectStored(book);
    assert.equal((await catalog.call('GET', `/book/${after.id}`)).status, 404);
    assert.ok((await catalog.createBook()).id > after.id);
  });
  assert.match((await restore('--table', restored, '--switch')).stdout, /nothing to switch/);
  await run('deploy', '--force');
  await checkTable(restored, restored);
  // The template of that version has the stack's own table in it.
  await run('rollback', '--timestamp', version);
  await checkTable(restored, restored);
}

/** Lets CloudFormation roll a switch back, and then a switch end before its setting is written. */
export async function failToSwitch(emulated: EmulatedStage): Promise<void> {
  const { fates, restore, run, spawn } = emulated;
  await restoreLikeAws(emulated, await backUp(restored), second);
  assert.equal((await restore('--table', second)).status, 0);
  fates.set('ExecuteChangeSet', () => {
    fates.set('DescribeStacks', () => withStatus('UPDATE_ROLLBACK_COMPLETE'));
    return { status: 200, body: '<ExecuteChangeSetResponse><ExecuteChangeSetResult/></ExecuteChangeSetResponse>' };
  });
  const { status, stderr } = await restore('--table', second, '--switch');
  fates.clear();
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^The switch failed: .* is in UPDATE_ROLLBACK_COMPLETE, and the stage uses book-catalog-prod-2026/m,
  );
  await run('deploy', '--force');
  await checkTable(restored, restored);

  const denied = { __type: 'AccessDeniedException', message: 'Not allowed to write parameters' };
  fates.set('PutParameter', () => ({ status: 400, body: JSON.stringify(denied) }));
  assert.equal((await restore('--table', second, '--switch')).status, 1);
  fates.clear();
  await checkTable(second, restored);
  const refused = await spawn('deploy', '--force');
  assert.equal(refused.status, 1);
  const [, advice = ''] =
    /^The stage uses the table .* is book-catalog-prod-2026.*: npm run restore -- (.*)$/m.exec(refused.stdout) ?? [];
  assert.equal((await restore(...advice.split(' '))).status, 0);
  await checkTable(second, second);
}

/** Deletes the table of the stage, of which a backup is left, and puts another one in its place. */
export async function replaceDeletedTable(emulated: EmulatedStage): Promise<void> {
  const client = new DynamoDB();
  const backup = await backUp(second);
  await client.updateTable({ TableName: second, DeletionProtectionEnabled: false });
  await client.deleteTable({ TableName: second });
  const table = `${StackName}-again`;
  await restoreLikeAws(emulated, backup, table);
  const { status, stdout } = await emulated.restore('--table', table, '--switch');
  assert.match(stdout, /uses the table book-catalog-prod-second, which does not exist/);
  assert.equal(status, 0);
  await checkCompleteness(table);
}

/** Keeps the items that a table has now. The emulator restores moments with the items of now, so a backup stands for one. */
async function backUp(TableName: string): Promise<string | undefined> {
  const { BackupDetails } = await new DynamoDB().createBackup({ TableName, BackupName: 'moment' });
  return BackupDetails?.BackupArn;
}

/** Restores a table that is not active yet, and whose recovery cannot be turned on for a while. */
async function restoreLikeAws({ fates }: EmulatedStage, BackupArn: string | undefined, TargetTableName: string) {
  await new DynamoDB().restoreTableFromBackup({ BackupArn, TargetTableName });
  let polls = 4; // more than the command needs to find both tables
  fates.set('DescribeTable', () => {
    polls -= 1;
    if (polls === 0) fates.delete('DescribeTable');
    return (text) => text.replace(/("TableStatus": ?)"ACTIVE"/, '$1"CREATING"');
  });
  fates.set('UpdateContinuousBackups', () => {
    assert.equal(polls, 0, 'the table is not active yet');
    fates.delete('UpdateContinuousBackups');
    const __type = 'com.amazonaws.dynamodb.v20120810#ContinuousBackupsUnavailableException';
    return { status: 400, body: JSON.stringify({ __type, message: 'Backups are being enabled' }) };
  });
}

/**
 * Switches while a client reads a book that both tables have, again 50 ms after each response; no response is an error. The
 * emulator kills instances when their function changes, where Lambda lets them finish: these reads do not count.
 */
async function switchUnderTraffic(emulated: EmulatedStage, table: string, book: Book): Promise<void> {
  const { restore, withCatalog, changeSets } = emulated;
  // A killed instance; one that is killed while it starts.
  const killed = /Worker process (died|exited immediately\. stderr: \\*")|'NoneType' object|Errno|closed file/;
  let isSwitching = true;
  const reading = withCatalog(async (catalog) => {
    const results: unknown[] = [];
    while (isSwitching) {
      const response = catalog.call('GET', `/book/${book.id}`);
      results.push(await response.then(({ status }) => status, String));
      await wait(readEveryMs);
    }
    return results;
  });
  const { status } = await restore('--table', table, '--switch');
  await wait(1_000);
  isSwitching = false;
  const results = await reading;
  const counted = results.filter((result) => !killed.test(String(result)));
  process.stdout.write(`${counted.length} of ${results.length} reads during the switch count\n`);
  assert.deepEqual([...new Set(counted)], [200]);
  assert.equal(status, 0);
  assert.equal(changeSets.at(-1)?.get('UsePreviousTemplate'), 'true');
  checkTriggers(emulated, []); // an alarm that is on does not take the switch back
}

/** Checks which table the stage uses, and its setting. */
export async function checkTable(table: string, setting: string | undefined): Promise<void> {
  assert.equal((await readStack(stage)).outputs.BookTableName, table);
  const Name = `/book-catalog/${stage}/tableName`;
  const stored = await new SSM().getParameter({ Name }).catch((error) => {
    if (!(error instanceof ParameterNotFound)) throw error;
    return { Parameter: undefined };
  });
  assert.equal(stored.Parameter?.Value, setting);
}

/** Checks that a restored table has what that of a deploy has. */
async function checkCompleteness(TableName: string): Promise<void> {
  const client = new DynamoDB();
  const { Table } = await client.describeTable({ TableName });
  assert.equal(Table?.DeletionProtectionEnabled, true);
  const { ContinuousBackupsDescription: backups } = await client.describeContinuousBackups({ TableName });
  assert.equal(backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus, 'ENABLED');
  const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName });
  assert.deepEqual(TimeToLiveDescription, { TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAt' });
  const { Tags = [] } = await client.listTagsOfResource({ ResourceArn: Table?.TableArn });
  const tags = Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
  assert.deepEqual([tags.SERVICE, tags.STAGE], ['book-catalog', stage]);
}
