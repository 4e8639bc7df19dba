import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ClassicLevel } from 'classic-level';
import { expect, onTestFinished, test } from 'vitest';
import { startStorage } from '../../serverless/local/engine/start-storage.ts';
import { connect } from '../support/book-table.ts';
import { listen } from '../support/loopback-server.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

function start(dataFolder: string, warn: (problem: string) => void = () => {}) {
  return startStorage({ dataFolder }, warn);
}

const empty = (file: string) => truncate(file);
const garble = (file: string) => writeFile(file, 'no database\n'.repeat(1_000));

test.each(['file', 'file/data'])('a data folder with a file in its path, as in %s, is named', async (path) => {
  const folder = await makeTemporaryFolder();
  await writeFile(join(folder, 'file'), '');

  await expect(start(join(folder, path))).rejects.toThrow(
    `The data folder ${join(folder, path)} cannot be used: it, or a part of its path, is a file`,
  );
});

const deadLink = 'it, or a part of its path, is a symbolic link to nothing';

test.each([
  ['is a link to nothing', 'dangling', deadLink],
  ['is below a link to nothing', 'dangling/data', deadLink],
  ['is a link to itself', 'loop', deadLink],
  ['is below a link to itself', 'loop/data', deadLink],
  ['has 300 characters', 'x'.repeat(300), 'its name is too long'],
  // Node would look for the missing folder without end.
  ['is in /proc', '/proc/data/books', 'no folder can be created there'],
])('a data folder that %s is refused', async (_problem, path, cause) => {
  const folder = await makeTemporaryFolder();
  await symlink('nothing', join(folder, 'dangling'));
  await symlink('loop', join(folder, 'loop'));
  const dataFolder = resolve(folder, path);

  await expect(start(dataFolder)).rejects.toThrow(`The data folder ${dataFolder} cannot be used: ${cause} (`);
});

test('the folders above a data folder are created', async () => {
  const folder = await makeTemporaryFolder();

  await start(join(folder, 'a/b/books'));

  expect(await readdir(join(folder, 'a/b/books'))).toContain('CURRENT');
});

test.each([['package.json'], ['MANIFEST-000004', '000005.ldb']])(
  'a folder with other files, or without the first file of the engine, is refused and unchanged: %s',
  async (...names) => {
    const folder = await makeTemporaryFolder();
    for (const name of [...names, '.DS_Store']) await writeFile(join(folder, name), 'precious');

    await expect(start(folder)).rejects.toThrow(
      `it has files, but no catalog (Other files: ${names.sort().join(', ')})`,
    );

    expect((await readdir(folder)).sort()).toEqual(['.DS_Store', ...names].sort());
  },
);

test.each([
  ['is created', () => {}],
  ['was there, open to all users', async (folder: string) => void (await mkdir(folder, { mode: 0o755 }))],
])('only its owner may enter a data folder that %s', async (_origin, prepare) => {
  const folder = join(await makeTemporaryFolder(), 'books');
  await prepare(folder);

  await start(folder);

  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('a data folder of another user is refused', async ({ skip }) => {
  skip(process.getuid?.() !== 0, 'only root can give a folder away, and leave its own rights for a while');
  const folder = await makeTemporaryFolder();
  await chown(folder, 1, 1);
  await chmod(folder, 0o777);
  process.seteuid?.(2);
  onTestFinished(() => process.seteuid?.(0));

  await expect(start(folder)).rejects.toThrow(`The data folder ${folder} cannot be used: it belongs to another user (`);
});

test('a data folder without permission is refused', async ({ skip }) => {
  skip(process.getuid?.() === 0, 'root may write to every folder');
  const folder = await makeTemporaryFolder();
  await chmod(folder, 0o500);

  await expect(start(folder)).rejects.toThrow('this user may not read and write it');
});

test.each([
  ['an empty MANIFEST', /^MANIFEST/, empty],
  ['a garbled MANIFEST', /^MANIFEST/, garble],
  ['an empty CURRENT', /^CURRENT$/, empty],
  ['an empty table file', /\.ldb$/, empty],
  ['a garbled table file', /\.ldb$/, garble],
  ['no table file', /\.ldb$/, rm],
])('a data folder with %s is refused, with what to do', async (_damage, pattern, change) => {
  const folder = await makeTemporaryFolder();
  const store = new ClassicLevel<string, string>(folder);
  for (let key = 0; key < 2_000; key += 1) await store.put(`${key % 2 ? 'a' : 'z'}${key}`, 'x'.repeat(100));
  // Moves the data to a table file, as some use does.
  await store.compactRange('', 'z');
  await store.close();
  const files = (await readdir(folder)).filter((file) => pattern.test(file));
  expect(files).not.toEqual([]);
  for (const file of files) await change(join(folder, file));

  await expect(start(folder)).rejects.toThrow(
    /its files are damaged .* or move it away: the service then starts with an empty catalog/,
  );
});

const flipBit = async (log: string) => {
  const bytes = await readFile(log);
  const middle = bytes.length / 2;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  await writeFile(log, bytes);
};
const lostWrites = expect.stringMatching(
  /^The data folder .* was damaged, and acknowledged writes are lost \(\d+\.log: dropping \d+ bytes.*\)\. Restore it /,
);

test.each([
  ['a flipped bit in the write-ahead log', [lostWrites], flipBit],
  ['a write that a crash has cut off', [], async (log: string) => truncate(log, (await stat(log)).size - 10)],
  [
    'a flipped bit that another start has met',
    [],
    async (log: string) => {
      await flipBit(log);
      const store = new ClassicLevel(dirname(log));
      await store.open();
      await store.close();
    },
  ],
])('a start after %s gives the warnings %j', async (_event, expected, change) => {
  const folder = await makeTemporaryFolder();
  const store = new ClassicLevel<string, string>(folder);
  for (let key = 0; key < 100; key += 1) await store.put(String(key), 'x'.repeat(100));
  await store.close();
  const log = (await readdir(folder)).filter((file) => /^\d+\.log$/.test(file));
  expect(log).toHaveLength(1);
  await change(join(folder, ...log));
  const warnings: string[] = [];

  await start(folder, (problem) => warnings.push(problem));

  expect(warnings).toEqual(expected);
});

test('an engine whose data folder is gone keeps its port, which another process could take, and responds no more', async () => {
  const folder = await makeTemporaryFolder();
  const warnings: string[] = [];
  const { url } = await start(join(folder, 'books'), (problem) => warnings.push(problem));
  const { origin, port } = new URL(url);
  await rm(join(folder, 'books'), { recursive: true });

  for (let request = 0; request < 2; request += 1) {
    await expect(connect(origin).send(new ListTablesCommand({}))).rejects.toMatchObject({ code: 'ECONNRESET' });
  }

  await expect(listen(createServer(), Number(port))).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(warnings).toEqual([expect.stringContaining('it was deleted or moved while the service ran')]);
});
