import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import type { FunctionSetting } from '../../../../lib/settings.ts';
import { findKnownSecrets, loadLocalConfig, localSettings } from '../../../../serverless/local/local-config.ts';
import { StartError } from '../../../../serverless/local/start-error.ts';
import { makeTemporaryFolder } from '../../../support/temporary-folder.ts';

const test = base.extend('folder', () => makeTemporaryFolder());

const writeDotEnv = (folder: string, ...lines: string[]) => writeFile(join(folder, '.env'), lines.join('\n'));

test('a local start has a default for everything', ({ folder }) => {
  expect(loadLocalConfig(folder, {})).toMatchObject({
    signingSecret: 'for local development only, never for production',
    username: 'admin',
    password: 'password',
    corsOrigin: undefined,
    tokenLifetime: 900,
    dataFolder: join(folder, '.dynamodb'),
    environment: {
      SECRET_TOKEN: 'for local development only, never for production',
      AUTH_USERNAME: 'admin',
      AUTH_PASSWORD: 'password',
      CORS_ORIGIN: '',
      TOKEN_LIFETIME: '900',
    },
  });
});

test('the secrets that everybody knows are those with their default', ({ folder }) => {
  const own = { SECRET_TOKEN: 'a secret of 32 bytes or even more', AUTH_USERNAME: 'admin' };

  expect(findKnownSecrets(loadLocalConfig(folder, {}))).toEqual(['SECRET_TOKEN', 'AUTH_PASSWORD']);
  expect(findKnownSecrets(loadLocalConfig(folder, own))).toEqual(['AUTH_PASSWORD']);
});

test('the environment comes before the file .env, and the file before the defaults', async ({ folder }) => {
  const origin = 'http://file.example';
  await writeDotEnv(folder, 'AUTH_USERNAME=file', 'AUTH_PASSWORD="from the file"', `CORS_ORIGIN=${origin}`);

  expect(loadLocalConfig(folder, { AUTH_USERNAME: 'environment' }).environment).toMatchObject({
    AUTH_USERNAME: 'environment',
    AUTH_PASSWORD: 'from the file',
    CORS_ORIGIN: origin,
  });
});

test('DB_URL names a table, unless the environment sets DB_PATH', async ({ folder }) => {
  await writeDotEnv(folder, 'DB_URL=http://127.0.0.1:8000/file', 'DB_PATH=data');

  expect(loadLocalConfig(folder, {}).table?.tableName).toBe('file');
  expect(loadLocalConfig(folder, { DB_URL: 'http://127.0.0.1:8000/other' }).table?.tableName).toBe('other');
  const { table, dataFolder } = loadLocalConfig(folder, { DB_PATH: 'other' });
  expect(table).toBeUndefined();
  expect(dataFolder).toBe(join(folder, 'other'));
});

test('.env has the rules of Node: comments, quotes, values of several lines', async ({ folder }) => {
  const lines = ['AUTH_USERNAME=file # comment', '# NAME', '', "AUTH_PASSWORD='my#pass", "second' # A: b"];
  await writeDotEnv(folder, ...lines, 'export CORS_ORIGIN="https://docs.example"\r', '');

  const { username, password, corsOrigin } = loadLocalConfig(folder, {});

  expect([username, password]).toEqual(['file', 'my#pass\nsecond']);
  expect(corsOrigin).toBe('https://docs.example');
});

test('.env may begin with a byte order mark, as some editors for Windows write it', async ({ folder }) => {
  await writeDotEnv(folder, '\uFEFFAUTH_PASSWORD=file');

  expect(loadLocalConfig(folder, {}).password).toBe('file');
});

test('.env in another encoding than UTF-8 is refused', async ({ folder }) => {
  await writeFile(join(folder, '.env'), '\uFEFFAUTH_PASSWORD=file', 'utf16le');

  expect(() => loadLocalConfig(folder, {})).toThrow(StartError);
  expect(() => loadLocalConfig(folder, {})).toThrow('.env is not in UTF-8. Save it in that encoding.');
});

test.for([
  ...['AUTH_PASSWORD', 'SECRET_TOKEN', 'DB_URL', 'DB_PATH'].map((name) => [`${name}=`, `${name} is blank`]),
  ['AUTH_PASWORD=x', '.env sets AUTH_PASWORD, which is not a setting. The settings are SECRET_TOKEN, '],
])('.env with the line %s is refused', async ([line = '', problem], { folder }) => {
  await writeDotEnv(folder, 'AUTH_USERNAME=file', line);

  expect(() => loadLocalConfig(folder, {})).toThrow(StartError);
  expect(() => loadLocalConfig(folder, {})).toThrow(problem);
});

/** A text that may be blank cannot be wrong. */
const canBeWrong = ({ kind, default: fallback }: FunctionSetting) =>
  fallback !== '' || kind.parse('-1', {}) === undefined;

test.for(Object.values<FunctionSetting>(localSettings).filter(canBeWrong))(
  'a wrong $variable ends the start with a text',
  async (setting, { folder }) => {
    const { variable, kind } = setting;
    const isText = kind.parse('-1', {}) !== undefined;
    const value = isText ? ' ' : '-1';
    const problem = isText ? 'blank' : `not ${kind.description}`;
    const text = `The configuration cannot be loaded: ${variable} is ${problem}. Settings come from the environment`;

    expect(() => loadLocalConfig(folder, { [variable]: value })).toThrow(StartError);
    expect(() => loadLocalConfig(folder, { [variable]: value })).toThrow(text);
    await writeDotEnv(folder, `${variable}='${value}'`);
    expect(() => loadLocalConfig(folder, {})).toThrow(text);
  },
);
