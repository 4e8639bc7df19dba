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

test('.env may have a byte order mark, names of others, and # in quotes', async ({ folder }) => {
  const lines = ['\ufeffAUTH_USERNAME=file # comment', "AUTH_PASSWORD='my#pass'", 'DB_NAME=x', 'A=b#c'];
  await writeDotEnv(folder, ...lines);

  expect(loadLocalConfig(folder, {}).credentials).toEqual({ username: 'file', password: 'my#pass' });
});

test.for([
  ...['AUTH_PASSWORD', 'SECRET_TOKEN', 'DB_URL', 'DB_PATH'].map((name) => [`${name}=`, `${name} is empty`]),
  ['AUTH_PASWORD=x', 'AUTH_PASWORD is not a setting (did you mean AUTH_PASSWORD?)'],
  ['SECRETTOKEN=x', 'SECRETTOKEN is not a setting (did you mean SECRET_TOKEN?)'],
  ['LOG_FORMAT=json', 'LOG_FORMAT counts in the environment only'],
  ['AUTH_PASSWORD=my#pass', 'put the value of AUTH_PASSWORD in single quotes, because # begins a comment'],
])('.env with the line %s is refused', async ([line = '', problem], { folder }) => {
  await writeDotEnv(folder, line);

  expect(() => loadLocalConfig(folder, {})).toThrow(problem);
});

test('a folder called .env is refused', async ({ folder }) => {
  await mkdir(join(folder, '.env'));

  expect(() => loadLocalConfig(folder, {})).toThrow(`${join(folder, '.env')} cannot be read: EISDIR`);
});
