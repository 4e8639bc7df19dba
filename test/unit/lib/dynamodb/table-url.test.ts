import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTableUrl, regionOf } from '../../../../lib/dynamodb/table-url.ts';
import { anyText } from '../../../support/any-text.ts';

describe('parseTableUrl', () => {
  test('an endpoint of AWS names its region, whatever the default is', () => {
    expect(parseTableUrl('https://dynamodb.eu-west-1.amazonaws.com/books-prod', 'us-east-1')).toEqual({
      endpoint: 'https://dynamodb.eu-west-1.amazonaws.com',
      region: 'eu-west-1',
      tableName: 'books-prod',
    });
  });

  test('an endpoint of one’s own gets the default region', () => {
    expect(parseTableUrl('http://127.0.0.1:8000/books', 'eu-north-1')).toEqual({
      endpoint: 'http://127.0.0.1:8000',
      region: 'eu-north-1',
      tableName: 'books',
    });
  });

  test('any table name that DynamoDB allows is taken as it is', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z0-9_.-]{3,255}$/), (tableName) => {
        expect(parseTableUrl(`http://localhost:8000/${tableName}`, 'us-east-1')?.tableName).toBe(tableName);
      }),
    );
  });

  test('arbitrary text never throws, and what is accepted is an HTTP origin with a legal table name', () => {
    const almostUrl = fc
      .record({
        scheme: fc.constantFrom('http://', 'https://', 'ftp://', 'http:', ''),
        user: fc.constantFrom('', '', '', 'user@', 'user:secret@'),
        host: fc.oneof(fc.domain(), fc.ipV4(), fc.constant('[::1]')),
        port: fc.constantFrom('', '', ':8000', ':0', ':65536'),
        path: fc.oneof(fc.stringMatching(/^\/[a-zA-Z0-9_.-]{2,6}$/), fc.webPath()),
        rest: fc.constantFrom('', '', '', '?', '#', '?x=1', '#x'),
      })
      .map(({ scheme, user, host, port, path, rest }) => scheme + user + host + port + path + rest);
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
    ['', 'nothing'],
    ['books', 'no URL'],
    ['127.0.0.1:8000/books', 'no scheme'],
    ['ftp://127.0.0.1/books', 'another scheme'],
    ['file:///books', 'a file'],
    ['mysql://user:secret@db/books', 'another database'],
    ['http://127.0.0.1:8000', 'no table'],
    ['http://127.0.0.1:8000/', 'no table'],
    ['http://127.0.0.1:8000/ab', 'a table name of two characters'],
    [`http://127.0.0.1:8000/${'a'.repeat(256)}`, 'a table name of 256 characters'],
    ['http://127.0.0.1:8000/books/', 'a slash at the end'],
    ['http://127.0.0.1:8000/my/books', 'two segments'],
    ['http://127.0.0.1:8000/b%6Foks', 'an escape'],
    ['http://127.0.0.1:8000/książki', 'letters that are not ASCII'],
    ['http://127.0.0.1:8000/books?x=1', 'a query'],
    ['http://127.0.0.1:8000/books#x', 'a fragment'],
    ['http://user@127.0.0.1:8000/books', 'a user'],
    ['http://user:secret@127.0.0.1:8000/books', 'a user and a password'],
    ['http://:secret@127.0.0.1:8000/books', 'a password'],
    ['http://127.0.0.1:99999/books', 'no port'],
    ['http://[::1/books', 'a broken host'],
  ])('%j is refused (%s)', (text) => {
    expect(parseTableUrl(text, 'us-east-1')).toBeUndefined();
  });

  test.each([3, 255])('a table name of %i characters is the border and allowed', (length) => {
    expect(parseTableUrl(`http://127.0.0.1/${'a'.repeat(length)}`, 'us-east-1')?.tableName).toHaveLength(
      length,
    );
  });
});

describe('regionOf', () => {
  test.each([
    ['https://dynamodb.eu-west-1.amazonaws.com', 'eu-west-1'],
    ['https://dynamodb-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['https://dynamodb.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
    ['http://127.0.0.1:8000', undefined],
    ['http://localhost:4566', undefined],
    ['https://dynamodb.eu-west-1.amazonaws.com.example.org', undefined],
    ['https://dynamodb.eu-west-1.amazonaws.example', undefined],
    ['https://evil-dynamodb.eu-west-1.amazonaws.com', undefined],
    ['https://dynamodbxeu-west-1.amazonaws.com', undefined],
  ])('%s is in the region %s', (endpoint, region) => {
    expect(regionOf(endpoint)).toBe(region);
  });
});
