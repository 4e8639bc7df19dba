import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../../../conformance/any-text.ts';
import { readQueryPage } from '../../../../lib/dynamodb/query-page.ts';
import { aBook, anyFieldValues } from '../../../support/a-book.ts';

/** An integer; -0 is none of JSON's. */
const number = fc.maxSafeInteger().map((value) => value + 0);

/** Texts that look like DynamoDB's JSON, besides any others. */
const text = fc.oneof(
  anyText,
  fc
    .array(fc.constantFrom('{', '"S":', '"N":', '"', '\\', '}', '},{', 'Items":[', '"id":', ']', 'S', ' '))
    .map((parts) => parts.join('')),
);

/** Attributes in any order, as DynamoDB promises none. */
const texts = Object.entries(aBook()).flatMap(([name, value]) => (value === '' ? [[name, text]] : []));
const item = fc
  .record({ id: number, ...anyFieldValues, ...Object.fromEntries(texts) })
  .map((book) => Object.entries(book))
  .chain((attributes) => fc.shuffledSubarray(attributes, { minLength: attributes.length }));

const page = fc.record({
  items: fc.array(item, { maxLength: 5 }),
  key: fc.option(fc.record({ shard: number, id: number }), { nil: undefined }),
  members: fc.shuffledSubarray(['Count', 'Items', 'LastEvaluatedKey', 'ScannedCount'], { minLength: 4 }),
  space: fc.constantFrom(undefined, 1, '\t'),
});

test('the items and the key of any page are those that JSON.parse finds in it', () => {
  fc.assert(
    fc.property(page, ({ items, key, members, space }) => {
      const typed = (value: unknown) => (typeof value === 'number' ? { N: `${value}` } : { S: value });
      const response: Record<string, unknown> = {
        Count: items.length,
        Items: items.map((entries) =>
          Object.fromEntries(entries.map(([name, value]) => [name, typed(value)])),
        ),
        LastEvaluatedKey: key && { shard: typed(key.shard), id: typed(key.id) },
        ScannedCount: 9,
      };
      const inOrder = Object.fromEntries(members.map((name) => [name, response[name]]));
      const body = JSON.stringify(inOrder, null, space);

      const result = readQueryPage(Buffer.from(body), true);

      expect(JSON.parse(`[${result.items}]`)).toEqual(items.map((entries) => Object.fromEntries(entries)));
      expect(result.lastEvaluatedKey).toEqual(key);
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ...[
    '{}',
    '{"Items":',
    '{"Items":[{"id":{"N":"1',
    'null',
    '',
    '"',
    '{"a":"\\',
    '{"Items":[]}',
    '{"Count":0}',
  ],
  '{"Count":2,"Items":[{"id":{"N":"1"}}]}',
])('a response that is no complete page (%s) is an error', (body) => {
  expect(() => readQueryPage(Buffer.from(body), true)).toThrow();
});
