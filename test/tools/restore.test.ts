import { execFile } from 'node:child_process';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, expect, test } from 'vitest';
import { counterKey } from '../../lib/dynamodb/table/keys.ts';
import { createTable } from '../../serverless/local/engine/prepare-table.ts';
import { connect, emma, openBooks, readCounter, seedBooks, setCounter } from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';
import { startStubbedAws } from '../support/stubbed-aws.ts';

const tables = await useTables();
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Opens a stage whose table has six books, and a restored table with three of them. */
async function openStage(live = 'book-catalog-prod') {
  const table = await tables.open(live);
  const restored = await tables.open('book-catalog-prod');
  await seedBooks(table, 6, () => emma);
  await seedBooks(restored, 3, () => emma);
  const { stack, env, stop } = await startStubbedAws(tables.endpoint, table.tableName);
  stops.push(stop);
  const restore = (name: string, ...options: readonly string[]) =>
    new Promise<Ended>((resolve) => {
      const args = ['tools/operations/restore.ts', '--stage', 'prod', '--table', name, ...options];
      execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  return { live: table, restored, stack, restore };
}

test('a switch changes the table alone, and ids go on above all that the table before may give meanwhile', async () => {
  const { live, restored, stack, restore } = await openStage();

  const { code, stdout } = await restore(restored.tableName, '--switch');

  expect([code, stack.outputs.BookTableName]).toEqual([0, restored.tableName]);
  expect(stdout).toContain(`The way back: npm run restore -- --stage prod --table ${live.tableName} --switch\n`);
  expect((await openBooks(restored).create(emma)).book.id).toBe(500_007);
  const changeSet = Object.fromEntries(stack.requests.find((form) => form.get('Action') === 'CreateChangeSet') ?? []);
  expect(changeSet).toMatchObject({
    UsePreviousTemplate: 'true',
    ImportExistingResources: 'true',
    'Parameters.member.1.ParameterKey': 'RestoredTable',
    'Parameters.member.1.ParameterValue': restored.tableName,
    'Parameters.member.2.ParameterKey': 'AnotherParameter',
    'Parameters.member.2.UsePreviousValue': 'true',
    'Tags.member.1.Key': 'STAGE',
    'RollbackConfiguration.MonitoringTimeInMinutes': '0',
  });
});

test("a switch back to the stack's own table leaves the parameter empty", async () => {
  const { stack, restore } = await openStage('book-catalog-prod-1');
  await createTable(connect(tables.endpoint), 'book-catalog-prod');

  expect((await restore('book-catalog-prod', '--switch')).code).toBe(0);

  const changeSet = stack.requests.find((form) => form.get('Action') === 'CreateChangeSet');
  expect(changeSet?.get('Parameters.member.1.ParameterValue')).toBe('');
});

test('a counter that is already higher is kept', async () => {
  const { restored, restore } = await openStage();
  await setCounter(restored, 900_000);

  expect((await restore(restored.tableName, '--switch')).code).toBe(0);

  expect(await readCounter(restored)).toBe(900_000);
});

test("in place of a deleted table, a switch goes on above the restored table's own ids", async () => {
  const { restored, stack, restore } = await openStage();
  stack.outputs.BookTableName = 'book-catalog-prod-deleted';

  expect((await restore(restored.tableName, '--switch')).code).toBe(0);

  expect(await readCounter(restored)).toBe(500_003);
});

// Lists end at the counter, so a new one that is too low would hide books. Without one, the service says what to do.
test.each([[[]], [['--switch']]])(
  'a table whose counter is lost gets no other one, with the options %j',
  async (options) => {
    const { live, restored, stack, restore } = await openStage();
    for (const { client, tableName } of [live, restored]) {
      await client.send(new DeleteCommand({ TableName: tableName, Key: counterKey }));
    }
    const table = options.length > 0 ? restored : live;

    expect((await restore(table.tableName, ...options)).code).toBe(0);

    expect(stack.outputs.BookTableName).toBe(table.tableName);
    expect(await readCounter(table)).toBeUndefined();
  },
);

test('a table that the functions may not use ends the command before it changes anything', async () => {
  const { stack, restore } = await openStage();

  expect(await restore('book-catalog-dev', '--switch')).toMatchObject({
    code: 1,
    stderr: 'The functions may use tables with names of book-catalog-prod-* only.\n',
  });

  expect(stack.requests).toEqual([]);
});
