import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPlainItems } from '../../../../lib/dynamodb/plain-items.ts';
import { anyText } from '../../../support/any-text.ts';

const number = fc.maxSafeInteger();

/** Attributes in any order, as DynamoDB promises none. */
const item = fc
  .record({ id: number, title: anyText, author: anyText, year: number })
  .chain((book) => fc.shuffledSubarray(Object.entries(book), { minLength: 4 }));

const page = fc.record({
  items: fc.array(item, { maxLength: 5 }),
  key: fc.option(fc.record({ shard: number, id: number }), { nil: undefined }),
  members: fc.shuffledSubarray(['Count', 'Items', 'LastEvaluatedKey', 'ScannedCount'], { minLength: 4 }),
  space: fc.constantFrom(undefined, 1, '\t'),
});

test('the items of any page are those that JSON.parse finds in it, and the rest is the page without them', () => {
  fc.assert(
    fc.property(page, ({ items, key, members, space }) => {
      const typed = (value: unknown) => (typeof value === 'number' ? { N: `${value + 0}` } : { S: value });
      const typedItems = items.map((entries) =>
        Object.fromEntries(entries.map(([name, value]) => [name, typed(value)])),
      );
      const typedKey = key && { shard: typed(key.shard), id: typed(key.id) };
      const response: Record<string, unknown> = {
        Count: items.length,
        Items: typedItems,
        LastEvaluatedKey: typedKey,
        ScannedCount: 9,
      };
      const body = JSON.stringify(
        Object.fromEntries(members.map((name) => [name, response[name]])),
        null,
        space,
      );

      const result = readPlainItems(Buffer.from(body));

      expect(JSON.parse(`[${result.items}]`)).toEqual(
        items.map((entries) =>
          Object.fromEntries(
            entries.map(([name, value]) => [name, typeof value === 'number' ? value + 0 : value]),
          ),
        ),
      );
      expect(result).toMatchObject({ itemCount: items.length, attributeCount: items.length * 4 });
      expect(JSON.parse(result.rest)).toEqual({
        Count: items.length,
        Items: [],
        ...(key && { LastEvaluatedKey: { shard: key.shard + 0, id: key.id + 0 } }),
        ScannedCount: 9,
      });
    }),
    { numRuns: 3_000 },
  );
});

test.each(['{}', '{"Items":', '{"Items":[{"id":{"N":"1', 'null', '', '"', '{"a":"\\'])(
  'text that is no page (%s) is read to its end',
  (text) => {
    expect(readPlainItems(Buffer.from(text)).itemCount).toBeLessThanOrEqual(1);
  },
);
