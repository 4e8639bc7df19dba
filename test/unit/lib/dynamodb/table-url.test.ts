import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTableUrl } from '../../../../lib/dynamodb/table-url.ts';

test('the URL of a table may have any table name that DynamoDB allows', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\w.-]{3,255}$/), (tableName) => {
      expect(parseTableUrl(`http://localhost:8000/${tableName}`)).toEqual({
        endpoint: 'http://localhost:8000',
        region: 'us-east-1',
        tableName,
      });
    }),
    { examples: [['abc'], ['a'.repeat(255)]] },
  );
});

const paths = ['', '/', '/ab', '/books/', '/my/books', '/b%6Foks', '/książki', '/books?x', '/books#x'];

test.each([
  ...[
    'books',
    '127.0.0.1:8000/books',
    'ftp://127.0.0.1/books',
    'xhttp://127.0.0.1/books',
    'file:///books',
    'mysql://db/books',
  ],
  ...[...paths, `/${'a'.repeat(256)}`].map((path) => `http://127.0.0.1:8000${path}`),
  ...['user@', 'user:secret@', ':secret@'].map((user) => `http://${user}127.0.0.1:8000/books`),
  ...['http://127.0.0.1:99999/books', 'http://[::1/books'],
])('%j is not the URL of a table', (url) => {
  expect(parseTableUrl(url)).toBeUndefined();
});

test.each([
  ['https://dynamodb.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['https://dynamodb-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['https://dynamodb.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['http://127.0.0.1:8000', 'eu-north-1'],
  ['https://dynamodb.eu-west-1.amazonaws.com.example.org', 'eu-north-1'],
  ['https://dynamodb.eu-west-1.amazonaws.example', 'eu-north-1'],
  ['https://evil-dynamodb.eu-west-1.amazonaws.com', 'eu-north-1'],
  ['https://dynamodbxeu-west-1.amazonaws.com', 'eu-north-1'],
])('the region of %s is %s for an instance in eu-north-1', (endpoint, region) => {
  expect(parseTableUrl(`${endpoint}/books`, 'eu-north-1')?.region).toBe(region);
});
