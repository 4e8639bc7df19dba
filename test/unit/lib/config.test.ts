import { expect, test } from 'vitest';
import { ConfigError, loadConfig, parseSettings, warnOfWeakSecret } from '../../../lib/config.ts';
import { text } from '../../../lib/settings.ts';
import { captureLog } from '../../support/captured-log.ts';

const complete = {
  SECRET_TOKEN: 'a secret that is longer than 32 bytes',
  DB_URL: 'http://127.0.0.1:8000/books',
  AUTH_USERNAME: 'ada',
  AUTH_PASSWORD: 'engine',
};
const load = (changes: Record<string, string | undefined> = {}) =>
  loadConfig(['signingSecret', 'username', 'password', 'tokenLifetime', 'table'], { ...complete, ...changes });

test('a complete environment gives every setting; those that are not asked for are neither needed nor given', () => {
  expect(load()).toEqual({
    signingSecret: complete.SECRET_TOKEN,
    corsOrigin: undefined,
    username: 'ada',
    password: 'engine',
    tokenLifetime: 900,
    table: { endpoint: 'http://127.0.0.1:8000', region: 'us-east-1', tableName: 'books' },
  });
  expect(loadConfig([], complete)).toEqual({ corsOrigin: undefined });
  expect(() => loadConfig(['signingSecret'], {})).toThrow(new ConfigError(['SECRET_TOKEN is not set']));
});

test.each(Object.keys(complete))('%s alone is named when it is missing or empty', (name) => {
  expect(() => load({ [name]: undefined })).toThrow(new ConfigError([`${name} is not set`]));
  expect(() => load({ [name]: '' })).toThrow(new ConfigError([`${name} is blank`]));
});

test.each(['AUTH_USERNAME', 'AUTH_PASSWORD', 'SECRET_TOKEN'])('%s is refused when it has blanks only', (name) => {
  for (const blanks of [' ', '\t \n', '\u00a0\u2003']) {
    expect(() => load({ [name]: blanks })).toThrow(new ConfigError([`${name} is blank`]));
  }
  expect(() => load({ [name]: ' a b ' })).not.toThrow();
});

// The last one is 32 bytes long.
test.each([
  ['x'.repeat(31), 1],
  ['ż'.repeat(16), 0],
])('the secret %j causes %i warnings, without the secret', (SECRET_TOKEN, count) => {
  const log = captureLog();

  warnOfWeakSecret(load({ SECRET_TOKEN }));

  expect(log.lines.map(({ level }) => level)).toEqual(Array(count).fill('WARN'));
  expect(log.text).not.toContain(SECRET_TOKEN);
});

const origins = [undefined, '', 'https://docs.example.com', 'http://[::1]:8081', 'https://a_b.xn--p1ai'];
test.each(origins)('CORS_ORIGIN may be %j, and is none when it is empty', (CORS_ORIGIN) => {
  expect(load({ CORS_ORIGIN }).corsOrigin).toBe(CORS_ORIGIN || undefined);
});

test('a setting that may be blank has no value then, whatever its kind', () => {
  const table = { note: { variable: 'NOTE', kind: text, default: '' } } as const;
  expect(parseSettings(table, ['note'], { NOTE: ' ' })).toEqual({ note: undefined });
});

const noOrigins = [
  '*',
  'null',
  'a.test',
  'https://a.test/',
  'https://a.test,https://b.test',
  'ws://a.test',
  'ws://http.a.test',
  'httpx://a.test',
  'https://a"b.test',
  "https://a.test'",
  'https://A.test',
  'https://a.test:443',
  'https://a.test:99999',
];
test.each(noOrigins)('CORS_ORIGIN cannot be %j', (CORS_ORIGIN) => {
  expect(() => load({ CORS_ORIGIN })).toThrow('CORS_ORIGIN is not the origin');
});

test.each([
  [undefined, 900],
  ['60', 60],
  ['86400', 86_400],
])('TOKEN_LIFETIME may be %j: %i s (rule 5.5)', (TOKEN_LIFETIME, tokenLifetime) => {
  expect(load({ TOKEN_LIFETIME }).tokenLifetime).toBe(tokenLifetime);
});

test.each(['59', '86401', '060', '900.5', '9e2', '-900', ' 900', '15 min'])('TOKEN_LIFETIME cannot be %j', (text) => {
  const problem = 'TOKEN_LIFETIME is not a whole number of seconds, 60 to 86400';
  expect(() => load({ TOKEN_LIFETIME: text })).toThrow(new ConfigError([problem]));
});

test('one error names everything that is wrong, without a DB_URL, which may hold a password', () => {
  const DB_URL = 'mysql://root:hunter2@db/books';
  const environment = {
    SECRET_TOKEN: '',
    DB_URL,
    AUTH_USERNAME: undefined,
    AUTH_PASSWORD: '',
    CORS_ORIGIN: '*',
    TOKEN_LIFETIME: '',
  };

  expect(() => load(environment)).toThrow(
    /^The configuration cannot be loaded: CORS_ORIGIN is not .*; SECRET_TOKEN is blank; AUTH_USERNAME is not set; AUTH_PASSWORD is blank; TOKEN_LIFETIME is blank; DB_URL is not the URL .* like https:\/\/dynamodb.eu-west-1.amazonaws.com\/books or http:\/\/127.0.0.1:8000\/books\.$/,
  );
  expect(() => load(environment)).not.toThrow(/hunter2/);
});

test('AWS_REGION is the region of an engine that is not AWS', () => {
  expect(load({ AWS_REGION: 'eu-north-1' }).table.region).toBe('eu-north-1');
});
