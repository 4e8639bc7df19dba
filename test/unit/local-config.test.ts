import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { loadLocalConfig } from '../../serverless/local/local-config.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

let folder: string;

beforeEach(async () => {
  folder = await makeTemporaryFolder();
});

const writeDotEnv = (...lines: string[]): Promise<void> => writeFile(join(folder, '.env'), lines.join('\n'));

describe('the configuration of a local start', () => {
  test('has a default for everything', () => {
    expect(loadLocalConfig(folder, {})).toEqual({
      signingSecret: 'for local development only, never for production',
      credentials: { username: 'admin', password: 'password' },
      corsOrigin: undefined,
      dataFolder: join(folder, '.dynamodb'),
    });
  });

  test('takes the file .env before the defaults, and the environment before the file', async () => {
    const origin = 'http://file.example';
    await writeDotEnv('AUTH_USERNAME=file', 'AUTH_PASSWORD="from the file"', `CORS_ORIGIN=${origin}`);

    const { credentials, corsOrigin } = loadLocalConfig(folder, { AUTH_USERNAME: 'environment' });

    expect(credentials).toEqual({ username: 'environment', password: 'from the file' });
    expect(corsOrigin).toBe(origin);
  });

  test('names a table when DB_URL is set, unless the environment sets DB_PATH', async () => {
    await writeDotEnv('DB_URL=http://127.0.0.1:8000/file', 'DB_PATH=data');

    expect(loadLocalConfig(folder, {}).table?.tableName).toBe('file');
    expect(loadLocalConfig(folder, { DB_URL: 'http://127.0.0.1:8000/other' }).table?.tableName).toBe('other');
    const { table, dataFolder } = loadLocalConfig(folder, { DB_PATH: 'other' });
    expect(table).toBeUndefined();
    expect(dataFolder).toBe(join(folder, 'other'));
  });

  test('is refused when a required setting is set to nothing', async () => {
    for (const name of ['AUTH_PASSWORD', 'SECRET_TOKEN', 'DB_URL', 'DB_PATH']) {
      await writeDotEnv(`${name}=`);
      expect(() => loadLocalConfig(folder, {})).toThrow(`${name} is empty`);
    }
  });

  test('takes a file .env with a byte order mark, with names of others and with # in quotes or after a space', async () => {
    await writeDotEnv('\ufeffAUTH_USERNAME=file # comment', "AUTH_PASSWORD='my#pass'", 'DB_NAME=x', 'A=b#c');

    expect(loadLocalConfig(folder, {}).credentials).toEqual({ username: 'file', password: 'my#pass' });
  });

  test.each([
    ['AUTH_PASWORD=x', 'AUTH_PASWORD is not a setting (did you mean AUTH_PASSWORD?)'],
    ['SECRETTOKEN=x', 'SECRETTOKEN is not a setting (did you mean SECRET_TOKEN?)'],
    ['LOG_FORMAT=json', 'LOG_FORMAT counts in the environment only'],
    ['AUTH_PASSWORD=my#pass', 'put the value of AUTH_PASSWORD in single quotes, because # begins a comment'],
  ])('refuses a file .env with %s', async (line, problem) => {
    await writeDotEnv(line);

    expect(() => loadLocalConfig(folder, {})).toThrow(problem);
  });

  test('refuses a folder called .env', async () => {
    await mkdir(join(folder, '.env'));

    expect(() => loadLocalConfig(folder, {})).toThrow(`${join(folder, '.env')} cannot be read: EISDIR`);
  });
});
