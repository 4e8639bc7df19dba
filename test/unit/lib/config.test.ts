import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../../conformance/any-text.ts';
import { ConfigError, loadConfig } from '../../../lib/config.ts';
import { parseTableUrl, regionOf } from '../../../lib/dynamodb/table-url.ts';

const complete = {
  SECRET_TOKEN: 'a secret that is longer than 32 bytes',
  DB_URL: 'http://127.0.0.1:8000/books',
  AUTH_USERNAME: 'ada',
  AUTH_PASSWORD: 'engine',
};
const load = (environment: Record<string, string | undefined>) =>
  loadConfig(['credentials', 'table'], environment);

describe('loadConfig', () => {
  test('a complete environment gives every part; parts that are not asked for are neither needed nor given', () => {
    const common = { signingSecret: complete.SECRET_TOKEN, corsOrigin: undefined };

    expect(load(complete)).toEqual({
      ...common,
      credentials: { username: 'ada', password: 'engine' },
      table: { endpoint: 'http://127.0.0.1:8000', region: 'us-east-1', tableName: 'books' },
    });
    expect(loadConfig([], { SECRET_TOKEN: complete.SECRET_TOKEN })).toEqual(common);
    expect(() => loadConfig([], {})).toThrow(new ConfigError(['SECRET_TOKEN is not set']));
  });

  test.each(Object.keys(complete))('%s alone is named when it is missing or empty', (name) => {
    expect(() => load({ ...complete, [name]: undefined })).toThrow(new ConfigError([`${name} is not set`]));
    expect(() => load({ ...complete, [name]: '' })).toThrow(new ConfigError([`${name} is empty`]));
  });

  const origins = [undefined, '', 'https://docs.example.com', 'http://127.0.0.1:8081'];
  test.each(origins)('CORS_ORIGIN may be %j, and is none when it is empty', (CORS_ORIGIN) => {
    expect(load({ ...complete, CORS_ORIGIN }).corsOrigin).toBe(CORS_ORIGIN || undefined);
  });

  const noOrigins = ['*', 'null', 'a.test', 'https://a.test/', 'https://a.test,https://b.test', 'file://x'];
  test.each(noOrigins)('CORS_ORIGIN cannot be %j', (CORS_ORIGIN) => {
    expect(() => load({ ...complete, CORS_ORIGIN })).toThrow('CORS_ORIGIN is not the origin');
  });

  test('everything that is wrong is named in one error, and a DB_URL that may hold a password is not repeated', () => {
    const environment = {
      SECRET_TOKEN: '',
      DB_URL: 'mysql://root:hunter2@db/books',
      AUTH_PASSWORD: '',
      CORS_ORIGIN: '*',
    };

    expect(() => load(environment)).toThrow(
      /^The configuration cannot be loaded: SECRET_TOKEN is empty; CORS_ORIGIN is not .*; AUTH_USERNAME is not set; AUTH_PASSWORD is empty; DB_URL is not the URL .* like https:\/\/dynamodb.eu-west-1.amazonaws.com\/books or http:\/\/127.0.0.1:8000\/books\.$/,
    );
    expect(() => load(environment)).not.toThrow(/hunter2/);
  });

  test.each([
    [{ AWS_REGION: 'eu-north-1' }, 'eu-north-1'],
    [{ AWS_REGION: '' }, 'us-east-1'],
    [{ AWS_REGION: 'us-west-2', DB_URL: 'https://dynamodb.eu-west-1.amazonaws.com/books' }, 'eu-west-1'],
  ])('with %j the region is %s', (environment, region) => {
    expect(load({ ...complete, ...environment }).table.region).toBe(region);
  });
});

describe('parseTableUrl', () => {
  test('any table name that DynamoDB allows is taken as it is', () => {
    const name = fc.oneof(fc.stringMatching(/^[\w.-]{3,255}$/), fc.constantFrom('abc', 'a'.repeat(255)));
    fc.assert(
      fc.property(name, (tableName) => {
        expect(parseTableUrl(`http://localhost:8000/${tableName}`, 'us-east-1')?.tableName).toBe(tableName);
      }),
    );
  });

  test('any text is refused, or an HTTP origin with a legal table name', () => {
    const almostUrl = fc
      .tuple(
        fc.constantFrom('http://', 'https://', 'ftp://', 'http:', ''),
        fc.constantFrom('', '', '', 'user@', 'user:secret@'),
        fc.oneof(fc.domain(), fc.ipV4(), fc.constant('[::1]')),
        fc.constantFrom('', '', ':8000', ':0', ':65536'),
        fc.oneof(fc.stringMatching(/^\/[a-zA-Z0-9_.-]{2,6}$/), fc.webPath()),
        fc.constantFrom('', '', '', '?', '#', '?x=1', '#x'),
      )
      .map((parts) => parts.join(''));
    const accepted = new Set<boolean>();
    fc.assert(
      fc.property(fc.oneof(anyText, almostUrl), (text) => {
        const location = parseTableUrl(text, 'us-east-1');

        accepted.add(location !== undefined);
        if (location === undefined) return;
        expect(new URL(location.endpoint).origin).toBe(location.endpoint);
        expect(location.endpoint).toMatch(/^https?:/);
        expect(location.tableName).toMatch(/^[a-zA-Z0-9_.-]{3,255}$/);
        expect(text).toContain(location.tableName);
        expect(text).not.toContain('secret');
      }),
      { numRuns: 500 },
    );
    expect(accepted).toEqual(new Set([true, false]));
  });

  test.each([
    ...['', 'books', '127.0.0.1:8000/books', 'ftp://127.0.0.1/books', 'file:///books', 'mysql://db/books'],
    ...[
      '',
      '/',
      '/ab',
      `/${'a'.repeat(256)}`,
      '/books/',
      '/my/books',
      '/b%6Foks',
      '/książki',
      '/books?x',
    ].map((path) => `http://127.0.0.1:8000${path}`),
    'http://127.0.0.1:8000/books#x',
    ...['user@', 'user:secret@', ':secret@'].map((user) => `http://${user}127.0.0.1:8000/books`),
    'http://127.0.0.1:99999/books',
    'http://[::1/books',
  ])('%j is refused', (text) => {
    expect(parseTableUrl(text, 'us-east-1')).toBeUndefined();
  });

  test.each([
    ['https://dynamodb.eu-west-1.amazonaws.com', 'eu-west-1'],
    ['https://dynamodb-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['https://dynamodb.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
    ['http://127.0.0.1:8000', undefined],
    ['https://dynamodb.eu-west-1.amazonaws.com.example.org', undefined],
    ['https://dynamodb.eu-west-1.amazonaws.example', undefined],
    ['https://evil-dynamodb.eu-west-1.amazonaws.com', undefined],
    ['https://dynamodbxeu-west-1.amazonaws.com', undefined],
  ])('%s is in the region %s', (endpoint, region) => {
    expect(regionOf(endpoint)).toBe(region);
  });
});
