import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { loadLocalConfig } from '../../serverless/local/local-config.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const test = base.extend('folder', () => makeTemporaryFolder());

const writeDotEnv = (folder: string, ...lines: string[]) => writeFile(join(folder, '.env'), lines.join('\n'));

test('a local start has a default for everything', ({ folder }) => {
  expect(loadLocalConfig(folder, {})).toEqual({
    signingSecret: 'for local development only, never for production',
    credentials: { username: 'admin', password: 'password' },
    corsOrigin: undefined,
    dataFolder: join(folder, '.dynamodb'),
  });
});

test('the environment comes before the file .env, and the file before the defaults', async ({ folder }) => {
  const origin = 'http://file.example';
  await writeDotEnv(folder, 'AUTH_USERNAME=file', 'AUTH_PASSWORD="from the file"', `CORS_ORIGIN=${origin}`);

  const { credentials, corsOrigin } = loadLocalConfig(folder, { AUTH_USERNAME: 'environment' });

  expect(credentials).toEqual({ username: 'environment', password: 'from the file' });
  expect(corsOrigin).toBe(origin);
});

test('DB_URL names a table, unless the environment sets DB_PATH', async ({ folder }) => {
  await writeDotEnv(folder, 'DB_URL=http://127.0.0.1:8000/file', 'DB_PATH=data');

  expect(loadLocalConfig(folder, {}).table?.tableName).toBe('file');
  expect(loadLocalConfig(folder, { DB_URL: 'http://127.0.0.1:8000/other' }).table?.tableName).toBe('other');
  const { table, dataFolder } = loadLocalConfig(folder, { DB_PATH: 'other' });
  expect(table).toBeUndefined();
  expect(dataFolder).toBe(join(folder, 'other'));
});

test('.env may have a byte order mark, comments, values of several lines, and # in quotes', async ({ folder }) => {
  const lines = ['\ufeffAUTH_USERNAME=file # comment', '# NAME', '', "AUTH_PASSWORD='my#pass", "second' # A: b"];
  await writeDotEnv(folder, ...lines, 'export CORS_ORIGIN="https://docs.example"\r', '');

  const { credentials, corsOrigin } = loadLocalConfig(folder, {});

  expect(credentials).toEqual({ username: 'file', password: 'my#pass\nsecond' });
  expect(corsOrigin).toBe('https://docs.example');
});

test.for([
  ...['AUTH_PASSWORD', 'SECRET_TOKEN', 'DB_URL', 'DB_PATH'].map((name) => [`${name}=`, `${name} is empty`]),
  ['AUTH_PASWORD=x', 'line 3 sets AUTH_PASWORD, which is none of SECRET_TOKEN, '],
  ['LOG_FORMAT=json', 'line 3 sets LOG_FORMAT, which is none of '],
  ['AUTH_PASSWORD: secret', 'line 3 is not NAME=value'],
  ['AUTH_PASSWORD', 'line 3 is not NAME=value'],
  ['AUTH_PASSWORD=my#pass', 'line 3 has a # in its value, which begins a comment without quotes around the value'],
])('.env with the line %s is refused', async ([line = '', problem], { folder }) => {
  await writeDotEnv(folder, 'AUTH_USERNAME="two', 'lines"', line);

  expect(() => loadLocalConfig(folder, {})).toThrow(problem);
});

test('a folder called .env is refused', async ({ folder }) => {
  await mkdir(join(folder, '.env'));

  expect(() => loadLocalConfig(folder, {})).toThrow(`${join(folder, '.env')} cannot be read: EISDIR`);
});
