import { mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ClassicLevel } from 'classic-level';
import { expect, test } from 'vitest';
import { startStorage } from '../../serverless/local/engine/start-storage.ts';
import { connect } from '../support/book-table.ts';
import { listen } from '../support/loopback-server.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

function start(dataFolder: string, warn: (problem: string) => void = () => {}) {
  return startStorage({ dataFolder }, warn);
}

/** The one sentence about a data folder. */
const sentence = (folder: string, cause: string) =>
  `The data folder ${folder} cannot be used (${cause}): stop what else uses it, such as this service in another ` +
  'terminal, check its rights and the free space, or name another folder in DB_PATH.';

test('a data folder that cannot be made is named with the cause, in the words of the system, and what to do', async () => {
  const folder = await makeTemporaryFolder();
  await writeFile(join(folder, 'file'), '');
  const dataFolder = join(folder, 'file/data');

  const cause = `ENOTDIR: not a directory, mkdir '${dataFolder}'`;
  await expect(start(dataFolder)).rejects.toThrow(sentence(dataFolder, cause));
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

    const cause = `it has no catalog, but other files: ${names.sort().join(', ')}`;
    await expect(start(folder)).rejects.toThrow(sentence(folder, cause));

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

test.each([
  ['an empty MANIFEST', /^MANIFEST/, truncate, 'Corruption: '],
  [
    'a garbled table file',
    /\.ldb$/,
    (file: string) => writeFile(file, 'no database\n'.repeat(1_000)),
    'DynamoDB failed: ',
  ],
])('a data folder with %s is refused', async (_damage, pattern, change, cause) => {
  const folder = await makeTemporaryFolder();
  const store = new ClassicLevel<string, string>(folder);
  for (let key = 0; key < 2_000; key += 1) await store.put(`${key % 2 ? 'a' : 'z'}${key}`, 'x'.repeat(100));
  // Moves the data to a table file, as some use does.
  await store.compactRange('', 'z');
  await store.close();
  const files = (await readdir(folder)).filter((file) => pattern.test(file));
  expect(files).not.toEqual([]);
  for (const file of files) await change(join(folder, file));

  await expect(start(folder)).rejects.toThrow(`The data folder ${folder} cannot be used (${cause}`);
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
  const cause = 'it was deleted or moved while the service ran';
  expect(warnings).toEqual([`${sentence(join(folder, 'books'), cause)} Then start the service again.`]);
});
