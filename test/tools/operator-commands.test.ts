import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  type BookTable,
  emma,
  listBooks,
  openBooks,
  readCounter,
  seedBooks,
  setCounter,
  storeBook,
} from '../support/book-table.ts';
import { useTables } from '../support/fixtures.ts';
import { startStubbedAws } from '../support/stubbed-aws.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const tables = await useTables();
const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Opens a stage whose table has three books, and a restored table with the same ones. */
async function openStage(booksOfLive = 3) {
  const [live, restored] = await Promise.all([tables.open('book-catalog-prod'), tables.open('book-catalog-prod')]);
  await seedBooks(live, booksOfLive, () => emma);
  await seedBooks(restored, 3, () => emma);
  const { stack, env, stop } = await startStubbedAws(tables.endpoint, live.tableName);
  stops.push(stop);
  const folder = await makeTemporaryFolder();
  const run = (command: string, ...options: readonly string[]) =>
    new Promise<Ended>((resolve) => {
      const args = [`tools/operations/${command}.ts`, '--stage', 'prod', ...options];
      execFile(process.execPath, args, { env: { ...env, INIT_CWD: folder } }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  const restore = (...options: readonly string[]) => run('restore', '--table', restored.tableName, ...options);
  return { live, restored, stack, folder, run, restore };
}

const far = 5_000_000_000;

test('npm run counter shows a gap with the books above it, and lowers the counter only when it is told to move them', async () => {
  const { live, run } = await openStage();
  await setCounter(live, far);
  const lowered = await run('counter');
  expect(lowered.stdout).toContain(`There is a gap: the table has no id between 3 and ${far}. Books above it: 0.\n`);
  expect(lowered.stdout).toContain('add --lower. New books then get ids from 10004 on.');
  await openBooks(live).create(emma);

  const shown = await run('counter');
  expect(shown.stdout).toContain(`Books above it: 1 (${far + 1}).`);
  expect(await run('counter', '--lower')).toMatchObject({
    code: 1,
    stderr: 'Nothing has been changed: 1 books are above the gap. Add --move.\n',
  });
  expect(await readCounter(live)).toBe(far + 1);

  const moved = await run('counter', '--lower', '--move');
  expect(moved.stdout).toContain(`\n${far + 1} 10004\nThe counter is at 10004. ${far + 1} is given again after `);
  expect((await listBooks(live)).map(({ id }) => id)).toEqual([1, 2, 3, 10_004]);
  expect((await run('counter')).stdout).toMatch(/Books above it: 0\.\nThere is nothing to repair\.\n$/);
  expect(await run('counter', '--lower')).toMatchObject({ code: 1, stderr: 'There is nothing to lower.\n' });
});

test('npm run counter repairs what is no number from 0 to 2^53-1, and says so after it has', async () => {
  const { live, run } = await openStage();
  await setCounter(live, 50_000.5);

  expect(await run('counter', '--repair')).toMatchObject({ code: 0, stderr: '' });

  expect(await readCounter(live)).toBe(10_003);
});

test('npm run counter looks at a restored table too, but not at one of another stage', async () => {
  const { restored, run } = await openStage();
  await setCounter(restored, 1);

  const { stdout } = await run('counter', '--table', restored.tableName, '--repair');
  expect(stdout).toContain(`The table ${restored.tableName} has its counter at 1. The highest id in it is 3.`);
  expect(await readCounter(restored)).toBe(10_003);
  expect((await run('counter', '--table', 'book-catalog-dev')).stderr).toMatch(/^The functions may use tables /);
});

test.each(['live', 'restored'] as const)(
  'npm run restore ends at once when the counter of the %s table is far too high, and names the remedy',
  async (which) => {
    const stage = await openStage();
    await setCounter(stage[which], far);

    const { code, stderr } = await stage.restore();

    expect([code, stderr]).toEqual([
      1,
      `The counter of ${stage[which].tableName} is at ${far}, over a million above the highest id, 3. If somebody has set it, lower it: npm run counter -- --stage prod --table ${stage[which].tableName}. If deletions have left the gap, add --yes.\n`,
    ]);
    expect(await readCounter(stage[which === 'live' ? 'restored' : 'live'])).toBe(3);
    // Only shards that hold something are read.
    expect((await stage.restore('--yes')).code).toBe(0);
  },
);

/** Changes book 1, deletes 2 and 3, and creates 4. */
async function changeBooks({ live }: { readonly live: BookTable }) {
  await openBooks(live).update(1, { title: 'Wrong' });
  await openBooks(live).delete(2);
  await openBooks(live).delete(3);
  await openBooks(live).create(emma);
}

test('npm run restore reports what has changed, and brings back the books that an operator chooses of it', async () => {
  const stage = await openStage();
  await changeBooks(stage);

  const shown = await stage.restore('--report', 'books.txt');
  expect(shown.stdout).toContain('Books, by id: 0 are the same in both tables.\nChanged since');
  const report = join(stage.folder, 'books.txt');
  expect(await readFile(report, 'utf8')).toBe('changed 1\ncreated 4\ndeleted 2\ndeleted 3\n');
  await writeFile(report, 'changed 1\r\n\ncreated 4\ndeleted 3');
  const back = await stage.restore('--bring-back', '--ids', 'books.txt');

  expect(back.stdout).toContain('1 of 1 deleted books are back');
  expect(back.stdout).toContain('1 of 1 changed books have their old fields.');
  expect((await listBooks(stage.live)).map(({ id, title }) => [id, title])).toEqual([
    [1, emma.title],
    [3, emma.title],
    [4, emma.title],
  ]);
  const again = await stage.restore('--bring-back', '--ids', 'books.txt');
  expect(again.stdout).toContain('0 of 1 deleted books are back');
  expect(again.stdout).toContain('The others were left alone');
});

test('npm run restore brings all deleted books back, and changes no other', async () => {
  const stage = await openStage();
  await changeBooks(stage);

  expect((await stage.restore('--bring-back')).stdout).toContain('2 of 2 deleted books are back');

  expect((await listBooks(stage.live)).map(({ id, title }) => [id, title])).toEqual([
    [1, 'Wrong'],
    ...[2, 3, 4].map((id) => [id, emma.title]),
  ]);
});

test.each([
  [
    'a line that is not of a report',
    'changed 1\ndeletd 2\n',
    /books\.txt, line 2: not a line like "deleted 12345"\.\n$/,
  ],
  ['an id that is none', 'changed 01\n', /books\.txt, line 1: /],
  ['no file', undefined, /^The ids cannot be read: ENOENT/],
])('npm run restore brings nothing back with %s', async (_, text, stderr) => {
  const { folder, restore } = await openStage();
  if (text !== undefined) await writeFile(join(folder, 'books.txt'), text);

  const ended = await restore('--bring-back', '--ids', 'books.txt');

  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) });
});

test('npm run restore compares nothing when its report cannot be written', async () => {
  const { restore } = await openStage();

  const { code, stdout, stderr } = await restore('--report', 'nowhere/books.txt');

  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^The report cannot be written: ENOENT/);
});

test('npm run restore says how far its comparison is', async () => {
  const stage = await openStage();
  for (let shard = 1; shard <= 10; shard += 1) await storeBook(stage.restored, { id: 10_000 * shard, ...emma });

  expect((await stage.restore()).stdout).toContain('\nCompared 10 of 11 shards\n');
});

test.each([
  ['no books', 3, 3],
  ['less than half of the books', 7, 0],
])('a switch to a table with %s has to be confirmed', async (problem, ofLive, deleted) => {
  const { live, restored, stack, restore } = await openStage(ofLive);
  for (let id = 1; id <= deleted; id += 1) await openBooks(restored).delete(id);

  const refused = await restore('--switch');
  expect(refused).toMatchObject({
    code: 1,
    stderr: `Nothing has been switched: ${restored.tableName} has ${problem}. To switch anyway, add --yes.\n`,
  });
  const counts = `${live.tableName} has ${ofLive} books, ${restored.tableName} has ${3 - deleted}.\n`;
  expect(refused.stdout).toContain(counts);
  expect(stack.outputs.BookTableName).toBe(live.tableName);

  expect((await restore('--switch', '--yes')).code).toBe(0);
  expect(stack.outputs.BookTableName).toBe(restored.tableName);
});

test('after a switch, ids go on far above those that the table before can have given in the minutes of the update', async () => {
  const { live, restored, stack, restore } = await openStage(6);

  const { code, stdout } = await restore('--switch');

  expect([code, stack.outputs.BookTableName]).toEqual([0, restored.tableName]);
  expect(stdout).toContain(`The way back: npm run restore -- --stage prod --table ${live.tableName} --switch\n`);
  expect((await openBooks(restored).create(emma)).book.id).toBe(500_007);
  expect(stack.requests.slice(-2)).toEqual(['DescribeStacks', 'PutParameter']);
});

test('a table that was deleted and restored under its own name gets all settings, and once a counter above all ids', async () => {
  const { live, stack, run } = await openStage();
  const TableName = live.tableName;

  const { code, stdout } = await run('restore', '--table', TableName);

  expect([code, stdout]).toEqual([0, expect.stringContaining(`${TableName} is ready. There is nothing to switch.`)]);
  expect(await readCounter(live)).toBe(10_003);
  expect(stack.changes).toMatchObject({
    UpdateContinuousBackups: { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    UpdateTimeToLive: { TimeToLiveSpecification: { Enabled: true, AttributeName: 'expiresAt' } },
    TagResource: { Tags: [{ Key: 'STAGE', Value: 'prod' }] },
    UpdateTable: { TableName, DeletionProtectionEnabled: true },
  });

  expect((await run('restore', '--table', TableName)).code).toBe(0);
  expect(await readCounter(live)).toBe(10_003);
});
