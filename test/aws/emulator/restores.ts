import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import { aBook } from '../../../conformance/a-book.ts';
import { type Book, expectCreated } from '../../../conformance/catalog.ts';
import { shardOf } from '../../../lib/dynamodb/table/keys.ts';
import { readStack } from '../../../tools/operations/deployed-stage.ts';
import { checkTriggers, withStatus } from './deploys.ts';
import { findBlocks } from './documents.ts';
import { type EmulatedStage, StackName, stage } from './emulated-stage.ts';

const restored = `${StackName}-20260131T120000Z`;
const second = `${StackName}-second`;
const readEveryMs = 50;

/**
 * Restores the books of a moment, which a deploy and a rollback keep. The way back to the stack's own table is in
 * test/tools/restore.test.ts: the emulator does not see that a condition adds a table, and creates it anew instead of
 * importing it.
 */
export async function restoreUnderTraffic(emulated: EmulatedStage, kept: Book): Promise<void> {
  const { run, restore, withCatalog, findDeployment } = emulated;
  const [changed, deleted] = await withCatalog((catalog) => Promise.all([catalog.createBook(), catalog.createBook()]));
  const moment = await backUp(StackName);
  const after = await withCatalog(async (catalog) => {
    await catalog.call('PUT', `/book/${changed.id}`, { year: 1 });
    await catalog.call('DELETE', `/book/${deleted.id}`);
    return catalog.createBook();
  });

  assert.match((await restore('--table', restored)).stderr, /not found/);
  await restoreLikeAws(emulated, moment, restored);
  assert.equal((await restore('--table', restored)).status, 0);
  await checkCompleteness(restored);
  await checkTable(StackName);

  const deployment = await findDeployment();
  await switchUnderTraffic(emulated, restored, kept);
  await checkTable(restored);
  assert.equal(await findDeployment(), deployment);
  await withCatalog(async (catalog) => {
    for (const book of [kept, changed, deleted]) await catalog.expectStored(book);
    assert.equal((await catalog.call('GET', `/book/${after.id}`)).status, 404);
    assert.ok((await catalog.createBook()).id > after.id + 100_000);
  });
  assert.match((await restore('--table', restored, '--switch')).stdout, /nothing to switch/);
  await run('deploy', '--force');
  await checkTable(restored);
  await run('rollback', '--timestamp', deployment);
  await checkTable(restored);
}

/** Lets CloudFormation roll a switch back. */
export async function failToSwitch(emulated: EmulatedStage): Promise<void> {
  const { fates, restore, run } = emulated;
  await restoreLikeAws(emulated, await backUp(restored), second);
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
  await checkTable(restored);
  assert.equal((await restore('--table', second, '--switch')).status, 0);
  await checkTable(second);
}

/** Deletes the table of the stage, and restores it from its last backup under its own name. */
export async function restoreDeletedTable(emulated: EmulatedStage, kept: Book): Promise<void> {
  const client = new DynamoDB();
  const last = await emulated.withCatalog((catalog) => catalog.createBook());
  const backup = await backUp(StackName);
  await client.updateTable({ TableName: StackName, DeletionProtectionEnabled: false });
  await client.deleteTable({ TableName: StackName });
  assert.match((await emulated.restore('--table', StackName)).stderr, /not found: Table: book-catalog-prod/);
  await restoreLikeAws(emulated, backup, StackName);
  const { status, stdout } = await emulated.restore('--table', StackName);
  assert.match(stdout, /^book-catalog-prod is ready\. There is nothing to switch\.$/m);
  assert.equal(status, 0);
  await checkCompleteness(StackName);
  await checkTable(StackName);
  // The stack still owns it.
  await emulated.run('deploy', '--force');
  await checkCompleteness(StackName);
  const ids = await emulated.withCatalog(async (catalog) => {
    await catalog.expectStored(kept);
    return [await catalog.createBook(), await catalog.createBook()].map(({ id }) => id);
  });
  // A raise for ids that the backup may not know.
  assert.deepEqual(ids, [last.id + 10_001, last.id + 10_002]);
}

/** Loses the counter of the ids, and repairs it by the commands of docs/incidents.md; then one that is far too high. */
export async function repairCounter({ runShell, withCatalog }: EmulatedStage): Promise<void> {
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
  const readCounter = async () => (await client.getItem(key)).Item?.lastId?.N;
  const [setup = ''] = findBlocks('incidents', 'Begin here');
  const [repair = ''] = findBlocks('incidents', 'A CounterError');
  const script = `${setup.replace(/AWS_PROFILE=\S+/, '')}\n${repair}`;

  // The last id is that of a deleted book, which only its idempotency record names when its tombstone is gone.
  const [last, deleted] = await withCatalog(async (catalog) => {
    const kept = await catalog.createBook();
    const response = await catalog.call('POST', '/book', aBook(), { 'Idempotency-Key': 'a-record' });
    const { id } = expectCreated(response, aBook());
    await catalog.deleteBook(id);
    return [kept, id];
  });
  await client.deleteItem({ TableName: StackName, Key: bookKeyOf(deleted) });
  await client.deleteItem(key);
  assert.deepEqual([await readOutcome('GET', '/books'), await readOutcome('POST', '/book')], [500, 500]);
  await runShell(script);
  assert.equal(await readCounter(), `${deleted + 10_000}`);
  const first = await withCatalog(async (catalog) => {
    await catalog.expectInList([last]);
    return catalog.createBook();
  });
  assert.equal(first.id, deleted + 10_001);

  // A counter that draws an id between its read and its write is not set.
  await client.updateItem({ ...key, UpdateExpression: 'SET lastId = :high', ExpressionAttributeValues: far });
  const meanwhile = repair.replace('    aws dynamodb update-item', `    ${drawId}\n    aws dynamodb update-item`);
  await assert.rejects(runShell(script.replace(repair, meanwhile)));
  assert.equal(await readCounter(), '5000000001');
  await runShell(script);
  assert.equal(await readCounter(), `${first.id + 10_000}`);
}

const far = { ':high': { N: '5000000000' } };
const drawId = `aws dynamodb update-item --table-name "$TABLE" --key "$KEY" --update-expression 'ADD lastId :one' \\
      --expression-attribute-values ':one={N=1}'`;

function bookKeyOf(id: number): Record<string, AttributeValue> {
  return { shard: { N: String(shardOf(id)) }, id: { N: String(id) } };
}

/** Deletes the table of the stage, of which a backup is left, and puts another one in its place. */
export async function replaceDeletedTable(emulated: EmulatedStage): Promise<void> {
  const client = new DynamoDB();
  const backup = await backUp(second);
  await client.updateTable({ TableName: second, DeletionProtectionEnabled: false });
  await client.deleteTable({ TableName: second });
  const table = `${StackName}-again`;
  await restoreLikeAws(emulated, backup, table);
  assert.equal((await emulated.restore('--table', table, '--switch')).status, 0);
  await checkTable(table);
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

/** Checks which table the stage uses. */
export async function checkTable(table: string): Promise<void> {
  assert.equal((await readStack(stage)).outputs.BookTableName, table);
}

/** Checks that a restored table has what that of a deploy has. */
export async function checkCompleteness(TableName: string): Promise<void> {
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
