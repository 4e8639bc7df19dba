import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { ParameterNotFound, SSM } from '@aws-sdk/client-ssm';
import { aBook } from '../../../conformance/a-book.ts';
import { type Book, expectCreated } from '../../../conformance/catalog.ts';
import { readStack } from '../../../tools/operations/deployed-stage.ts';
import { checkTriggers, withStatus } from './deploys.ts';
import { type EmulatedStage, StackName, stage } from './emulated-stage.ts';

const restored = `${StackName}-20260131T120000Z`;
const second = `${StackName}-second`;
const readEveryMs = 50;

/**
 * Restores the books of a moment, which a deploy and a rollback keep. The way back to the stack's own table is in
 * test/unit/tools/operations/switch-table.test.ts: the emulator does not see that a condition adds a table, and creates it anew instead of
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
  assert.match(prepared.stdout, new RegExp(`^Changed since, .*: 1 \\(${changed.id}\\)$`, 'm'));
  assert.match(
    prepared.stdout,
    new RegExp(`^Created since, .*: 1 \\(${after.id}\\)\nDeleted since, .*: 1 \\(${deleted.id}\\)$`, 'm'),
  );
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
    assert.ok((await catalog.createBook()).id > after.id + 100_000);
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

/** Deletes more books than the command shows ids, and brings back those that a restored table has. */
export async function bringBooksBack({ restore, withCatalog, project }: EmulatedStage): Promise<void> {
  const [kept, deleted] = await withCatalog(async (catalog) => [
    await catalog.createBook(),
    await catalog.createBooks(11),
  ]);
  const moment = await backUp(StackName);
  const after = await withCatalog(async (catalog) => {
    for (const { id } of deleted) await catalog.deleteBook(id);
    return catalog.createBook();
  });
  const table = `${StackName}-moment`;
  await new DynamoDB().restoreTableFromBackup({ BackupArn: moment, TargetTableName: table });
  const report = join(project.folder, 'books.txt');

  const shown = await restore('--table', table, '--report', report);
  assert.match(shown.stdout, /^Deleted since, .*: 11 \((\d+, ){10}…\)$/m);
  const lines = [`created ${after.id}`, ...deleted.map(({ id }) => `deleted ${id}`)];
  assert.equal(readFileSync(report, 'utf8'), `${lines.join('\n')}\n`);
  const { stdout, status } = await restore('--table', table, '--bring-back');
  assert.match(stdout, /^11 of 11 deleted books are back in book-catalog-prod\.$/m);
  assert.equal(status, 0);
  assert.match((await restore('--table', table, '--bring-back')).stdout, /^0 of 0 deleted books are back/m);
  await withCatalog(async (catalog) => {
    await catalog.expectInList([kept, ...deleted, after]);
    for (const { id } of deleted) await catalog.deleteBook(id);
  });
  await checkTable(StackName, undefined);
}

/** Deletes the table of the stage, and restores it from its last backup under its own name. */
export async function restoreDeletedTable(emulated: EmulatedStage, kept: Book): Promise<void> {
  const client = new DynamoDB();
  const last = await emulated.withCatalog((catalog) => catalog.createBook());
  const backup = await backUp(StackName);
  await client.updateTable({ TableName: StackName, DeletionProtectionEnabled: false });
  await client.deleteTable({ TableName: StackName });
  assert.match((await emulated.restore('--table', StackName)).stderr, /^There is no table book-catalog-prod\.$/m);
  await restoreLikeAws(emulated, backup, StackName);
  const refused = await emulated.restore('--table', StackName, '--bring-back');
  assert.match(refused.stderr, /^There is no other table to compare book-catalog-prod with\.$/m);
  const { status, stdout } = await emulated.restore('--table', StackName);
  assert.match(stdout, /^book-catalog-prod is ready\. There is nothing to switch\.$/m);
  assert.equal(status, 0);
  await checkCompleteness(StackName);
  await checkTable(StackName, undefined);
  // The stack still owns it.
  await emulated.run('deploy', '--force');
  await checkCompleteness(StackName);
  const ids = await emulated.withCatalog(async (catalog) => {
    await catalog.expectStored(kept);
    return [await catalog.createBook(), await catalog.createBook()].map(({ id }) => id);
  });
  // A raise for ids that the backup may not know. A second run of the command raises nothing.
  assert.deepEqual(ids, [last.id + 10_001, last.id + 10_002]);
  assert.equal((await emulated.restore('--table', StackName)).status, 0);
  assert.equal((await emulated.withCatalog((catalog) => catalog.createBook())).id, last.id + 10_003);
}

/** Loses the counter of the ids, and repairs it. */
export async function repairCounter({ checkCounter, withCatalog }: EmulatedStage): Promise<void> {
  const client = new DynamoDB();
  /** @returns the status of a request that is repeated while it is 503, as on a busy machine */
  const readOutcome = async (method: string, path: string) => {
    let status = 503;
    for (let attempt = 1; status === 503 && attempt <= 5; attempt += 1) {
      ({ status } = await withCatalog((catalog) => catalog.call(method, path, method === 'POST' ? {} : undefined)));
    }
    return status;
  };
  const key = { TableName: StackName, Key: { shard: { N: '-1' }, id: { N: '0' } } };
  const last = await withCatalog(async (catalog) => {
    const response = await catalog.call('POST', '/book', aBook(), { 'Idempotency-Key': 'a-claim' });
    return expectCreated(response, aBook());
  });
  assert.match((await checkCounter()).stdout, /There is nothing to repair/);
  await client.deleteItem(key);
  assert.deepEqual([await readOutcome('GET', '/books'), await readOutcome('POST', '/book')], [500, 500]);

  const shown = await checkCounter();
  const repaired = last.id + 10_000;
  assert.match(shown.stdout, new RegExp(`no usable counter\\. The highest id in it is ${last.id}\\.$`, 'm'));
  assert.match(shown.stdout, new RegExp(`add --repair to set the counter to ${repaired}\\.$`, 'm'));
  assert.equal((await client.getItem(key)).Item, undefined);
  const refused = await checkCounter('--at-least', '1000000000', '--repair');
  assert.deepEqual([refused.status, (await client.getItem(key)).Item], [1, undefined]);
  assert.equal((await checkCounter('--repair')).status, 0);
  assert.match((await checkCounter('--repair')).stdout, /There is nothing to repair/);
  await withCatalog(async (catalog) => {
    assert.equal((await catalog.createBook()).id, repaired + 1);
    await catalog.expectInList([last]);
  });
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
