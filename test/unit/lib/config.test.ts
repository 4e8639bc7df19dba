import { afterEach, describe, expect, test, vi } from 'vitest';
import { ConfigError, loadConfig } from '../../../lib/config.ts';

const complete = {
  SECRET_TOKEN: 'a secret that is longer than 32 bytes',
  DB_URL: 'http://127.0.0.1:8000/books',
  AUTH_USERNAME: 'ada',
  AUTH_PASSWORD: 'engine',
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('loadConfig', () => {
  test('a complete environment gives every part', () => {
    expect(loadConfig(['credentials', 'table'], complete)).toEqual({
      signingSecret: 'a secret that is longer than 32 bytes',
      corsOrigin: undefined,
      credentials: { username: 'ada', password: 'engine' },
      table: { endpoint: 'http://127.0.0.1:8000', region: 'us-east-1', tableName: 'books' },
    });
  });

  test('every endpoint has the secret and the origin; parts that are not asked for are neither needed nor given', () => {
    expect(loadConfig([], { SECRET_TOKEN: complete.SECRET_TOKEN })).toEqual({
      signingSecret: complete.SECRET_TOKEN,
      corsOrigin: undefined,
    });
    expect(() => loadConfig([], {})).toThrow(new ConfigError(['SECRET_TOKEN is not set']));
  });

  test('without an environment the one of the process is read', () => {
    vi.stubEnv('SECRET_TOKEN', complete.SECRET_TOKEN);
    vi.stubEnv('AUTH_USERNAME', 'grace');
    vi.stubEnv('AUTH_PASSWORD', 'hopper');

    expect(loadConfig(['credentials'])).toMatchObject({
      signingSecret: complete.SECRET_TOKEN,
      credentials: { username: 'grace', password: 'hopper' },
    });
  });

  test.each(['SECRET_TOKEN', 'DB_URL', 'AUTH_USERNAME', 'AUTH_PASSWORD'] as const)(
    '%s alone is named when it is missing or empty',
    (name) => {
      const { [name]: _, ...rest } = complete;

      expect(() => loadConfig(['credentials', 'table'], rest)).toThrow(
        new ConfigError([`${name} is not set`]),
      );
      expect(() => loadConfig(['credentials', 'table'], { ...rest, [name]: '' })).toThrow(
        new ConfigError([`${name} is empty`]),
      );
    },
  );

  test.each([undefined, '', 'https://docs.example.com', 'http://127.0.0.1:8081'])(
    'CORS_ORIGIN may be %j, and is none when it is empty',
    (CORS_ORIGIN) => {
      expect(loadConfig([], { ...complete, CORS_ORIGIN })).toMatchObject({
        corsOrigin: CORS_ORIGIN || undefined,
      });
    },
  );

  test.each([
    '*',
    'null',
    'docs.example.com',
    'https://docs.example.com/',
    'https://a.test,https://b.test',
    'file://x',
  ])('CORS_ORIGIN cannot be %j', (CORS_ORIGIN) => {
    expect(() => loadConfig([], { ...complete, CORS_ORIGIN })).toThrow('CORS_ORIGIN is not the origin');
  });

  test('everything that is wrong is named in one error', () => {
    const environment = { SECRET_TOKEN: '', DB_URL: 'books', AUTH_PASSWORD: '', CORS_ORIGIN: '*' };

    const error = catchError(() => loadConfig(['credentials', 'table'], environment));

    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toMatch(
      /^The configuration cannot be loaded: SECRET_TOKEN is empty; CORS_ORIGIN is not .*; AUTH_USERNAME is not set; AUTH_PASSWORD is empty; DB_URL is not the URL of .*\.$/,
    );
  });

  test('a malformed DB_URL is refused with an example, and not repeated, as it may hold a password', () => {
    const environment = { ...complete, DB_URL: 'mysql://root:hunter2@db/books' };

    const error = catchError(() => loadConfig(['table'], environment));

    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain('http://127.0.0.1:8000/books');
    expect(error.message).not.toContain('hunter2');
  });

  test.each([
    [{ AWS_REGION: 'eu-north-1' }, 'eu-north-1'],
    [{ AWS_REGION: '' }, 'us-east-1'],
    [{}, 'us-east-1'],
  ])('with %j the region of an endpoint of one’s own is %s', (environment, region) => {
    expect(loadConfig(['table'], { ...complete, ...environment }).table.region).toBe(region);
  });

  test('the region of an endpoint of AWS is its own', () => {
    const environment = {
      ...complete,
      DB_URL: 'https://dynamodb.eu-west-1.amazonaws.com/books',
      AWS_REGION: 'us-west-2',
    };

    expect(loadConfig(['table'], environment).table.region).toBe('eu-west-1');
  });
});

function catchError(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
