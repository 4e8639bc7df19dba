import { chmod, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { expect, test } from 'vitest';
import { startStorage } from '../../serverless/local/start-storage.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

function start(dataFolder: string) {
  const credentials = { username: 'admin', password: 'password' };
  return startStorage({ signingSecret: 'secret', corsOrigin: undefined, credentials, dataFolder }, () => {});
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

test.skipIf(process.getuid?.() === 0)('a data folder without permission is refused', async () => {
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
