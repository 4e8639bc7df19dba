import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBooks } from '../../../../lib/dynamodb/query-page.ts';
import { anyFieldValues } from '../../../support/a-book.ts';

/** An integer; JSON has no -0. */
const number = fc.maxSafeInteger().map((value) => value + 0);

/** Attributes in any order, as DynamoDB promises none. */
const item = fc
  .record({ id: number, ...anyFieldValues })
  .map((book) => Object.entries(book))
  .chain((attributes) => fc.shuffledSubarray(attributes, { minLength: attributes.length }));

const page = fc.record({
  items: fc.array(item, { maxLength: 5 }),
  key: fc.option(fc.record({ shard: number, id: number }), { nil: undefined }),
  members: fc.shuffledSubarray(['Count', 'Items', 'LastEvaluatedKey', 'ScannedCount'], { minLength: 4 }),
  space: fc.constantFrom(undefined, 1, '\t'),
});

test('the items and the key of any page are those that JSON.parse finds in it', () => {
  const typed = (value: unknown) => (typeof value === 'number' ? { N: `${value}` } : { S: value });
  const toItem = (attributes: readonly [string, unknown][]) =>
    Object.fromEntries(attributes.map(([name, value]) => [name, typed(value)]));
  fc.assert(
    fc.property(page, ({ items, key, members, space }) => {
      const response: Record<string, unknown> = {
        Count: items.length,
        Items: items.map(toItem),
        LastEvaluatedKey: key && toItem(Object.entries(key)),
        ScannedCount: 9,
      };
      const inOrder = Object.fromEntries(members.map((name) => [name, response[name]]));

      const result = readBooks(Buffer.from(JSON.stringify(inOrder, null, space)));

      expect(JSON.parse(`[${result.items}]`)).toEqual(items.map((entries) => Object.fromEntries(entries)));
      expect(result.lastEvaluatedKey).toEqual(key);
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ...['', '"', 'null', '{}', '{"a":"\\', '{"Items":', '{"Items":[]}', '{"Count":0}'],
  ...['{"Items":[{"id":{"N":"1', '{"Count":2,"Items":[{"id":{"N":"1"}}]}'],
])('the response %s, which is not a complete page, is an error', (body) => {
  expect(() => readBooks(Buffer.from(body))).toThrow();
});
