import { chmod, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startStorage } from '../../serverless/local/start-storage.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

let folder: string;

beforeEach(async () => {
  folder = await makeTemporaryFolder();
});

afterEach(() => chmod(folder, 0o700));

async function start(dataFolder: string) {
  const credentials = { username: 'admin', password: 'password' };
  return startStorage({ signingSecret: 'secret', corsOrigin: undefined, credentials, dataFolder }, () => {});
}

/** Makes a store whose data is in a table file, as after some use. */
async function makeStore(): Promise<void> {
  const store = new ClassicLevel<string, string>(folder);
  for (let key = 0; key < 2_000; key += 1) await store.put(`${key % 2 ? 'a' : 'z'}${key}`, 'x'.repeat(100));
  await store.compactRange('', 'z');
  await store.close();
}

const empty = (file: string) => truncate(file);
const garble = (file: string) => writeFile(file, 'no database\n'.repeat(1_000));

describe('a data folder that cannot be used is named, with the cause and what to do', () => {
  test.each(['file', 'file/data'])('a part of the path %s is a file', async (path) => {
    await writeFile(join(folder, 'file'), '');

    await expect(start(join(folder, path))).rejects.toThrow(
      `The data folder ${join(folder, path)} cannot be used: it, or a part of its path, is a file`,
    );
  });

  // Node's recursive mkdir never ends there.
  test('a folder that cannot be created', async () => {
    await expect(start('/proc/nope/data')).rejects.toThrow('it cannot be created there');
  });

  test.skipIf(process.getuid?.() === 0)('a folder without permission', async () => {
    await chmod(folder, 0o500);

    await expect(start(folder)).rejects.toThrow('this user may not read and write it');
  });

  test('a folder that another process has open', async () => {
    const store = new ClassicLevel(folder);
    await store.open();
    try {
      await expect(start(folder)).rejects.toThrow('another process has it open, most likely this service');
    } finally {
      await store.close();
    }
  });

  test.each([
    ['an empty MANIFEST', /^MANIFEST/, empty],
    ['a garbled MANIFEST', /^MANIFEST/, garble],
    ['an empty CURRENT', /^CURRENT$/, empty],
    ['a garbled CURRENT', /^CURRENT$/, garble],
    ['no CURRENT', /^CURRENT$/, (file: string) => rm(file)],
    ['an empty table file', /\.ldb$/, empty],
    ['a garbled table file', /\.ldb$/, garble],
    ['no table file', /\.ldb$/, (file: string) => rm(file)],
  ])('a folder with %s', async (_damage, pattern, change) => {
    await makeStore();
    const files = (await readdir(folder)).filter((file) => pattern.test(file));
    expect(files).not.toEqual([]);
    for (const file of files) await change(join(folder, file));

    await expect(start(folder)).rejects.toThrow(
      /its files are damaged .* or move it away: the service then starts with an empty catalog/,
    );
  });
});
