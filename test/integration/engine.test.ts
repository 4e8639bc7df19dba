import { readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { createTable } from '../../serverless/local/engine/prepare-table.ts';
import { startEngine } from '../fakes/engine.ts';
import { connect } from '../support/book-table.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const TableName = 'books';
const items = [1, 2].map((id) => ({ shard: 0, id, title: 'Emma' }));

/** Starts the engine of the local service with its data in a folder. */
async function start(folder: string) {
  const { endpoint, stop } = await startEngine(folder);
  return { client: connect(endpoint), stop };
}

test('a power failure that cuts off the end of a transaction undoes all of it', async () => {
  const folder = await makeTemporaryFolder();
  const before = await start(folder);
  await createTable(before.client, TableName);
  await before.client.send(
    new TransactWriteCommand({ TransactItems: items.map((Item) => ({ Put: { TableName, Item } })) }),
  );
  await before.stop();
  const [log = ''] = (await readdir(folder)).filter((file) => /^\d+\.log$/.test(file));
  await truncate(join(folder, log), (await stat(join(folder, log))).size - 1);

  const { client, stop } = await start(folder);

  const reads = items.map(({ shard, id }) => client.send(new GetCommand({ TableName, Key: { shard, id } })));
  expect((await Promise.all(reads)).map(({ Item }) => Item)).toEqual([undefined, undefined]);
  await stop();
});

test('a refusal has the stored item only where a request asks for it', async () => {
  const { client, stop } = await start(await makeTemporaryFolder());
  await createTable(client, TableName);
  for (const Item of items) await client.send(new PutCommand({ TableName, Item }));
  const refused = { TableName, ConditionExpression: 'attribute_not_exists(id)' };
  const asking = { ...refused, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const [Item, Other] = items;
  const update = { Key: { shard: 0, id: 1 }, UpdateExpression: 'REMOVE title' };
  const puts = [{ Put: { ...refused, Item } }, { Put: { ...asking, Item: Other } }];

  const refusals = await Promise.all([
    findItems(client.send(new PutCommand({ ...refused, Item }))),
    findItems(client.send(new PutCommand({ ...asking, Item }))),
    findItems(client.send(new UpdateCommand({ ...refused, ...update }))),
    findItems(client.send(new UpdateCommand({ ...asking, ...update }))),
    findItems(client.send(new TransactWriteCommand({ TransactItems: puts }))),
  ]);

  const title = { S: 'Emma' };
  const shown = refusals.map((found) => found.map((item) => item?.title));
  expect(shown).toEqual([[undefined], [title], [undefined], [title], [undefined, title]]);
  await stop();
});

/** @returns the items in the error of a refused request: one for each write of a transaction */
async function findItems(request: Promise<unknown>) {
  const error: ConditionalCheckFailedException | TransactionCanceledException = await request.then(
    () => expect.unreachable(),
    (reason) => reason,
  );
  const refusals = 'CancellationReasons' in error ? (error.CancellationReasons ?? []) : [error];
  return refusals.map((refusal) => ('Item' in refusal ? refusal.Item : undefined));
}
