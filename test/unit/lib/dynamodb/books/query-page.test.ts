import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type Book, bookFields } from '../../../../../lib/books/book.ts';
import { type BookFilter, createPredicate } from '../../../../../lib/books/book-filter.ts';
import { readBooks } from '../../../../../lib/dynamodb/books/query-page.ts';
import { parseStoredBook } from '../../../../../lib/dynamodb/books/stored-book.ts';
import { bookKey } from '../../../../../lib/dynamodb/table/keys.ts';
import type { Kind } from '../../../../../lib/fields.ts';
import { aBook, anyFieldValues } from '../../../../support/a-book.ts';
import { anyText } from '../../../../support/any-text.ts';

type Attributes = readonly (readonly [name: string, value: unknown])[];

const weighted = <T>(usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: usual, weight: 9 }, { arbitrary: unusual, weight: 1 });

const shuffled = <T>(all: readonly T[]) => fc.shuffledSubarray([...all], { minLength: all.length });

/** An integer of more than 15 digits at times; JSON has no -0. */
const number = fc.maxSafeInteger().map((value) => value + 0);

const usualFields = { id: fc.integer({ min: 1, max: 2 ** 31 }), ...anyFieldValues };

/** Books in any one order, as DynamoDB promises none. They may be older than some of the fields. */
const usualItems = fc
  .tuple(
    fc.array(fc.record(usualFields, { requiredKeys: ['id'] }), { maxLength: 5 }),
    shuffled(Object.keys(usualFields)),
  )
  .map(([books, order]) =>
    books.map(
      (book: Readonly<Record<string, unknown>>): Attributes =>
        order.filter((name) => name in book).map((name) => [name, book[name]]),
    ),
  );

/** A book in an order of its own, with other attributes, or numbers of any length. */
const unusualItem = fc
  .record({ ...usualFields, id: number, year: number, text: anyText, flag: fc.boolean() }, { requiredKeys: ['id'] })
  .chain((book): fc.Arbitrary<Attributes> => shuffled(Object.entries(book)));

/** In one page of ten, an unusual item stands anywhere. */
const anyItems = weighted(
  usualItems,
  fc
    .tuple(usualItems, unusualItem, fc.nat({ max: 5 }))
    .map(([items, unusual, place]) => items.toSpliced(place, 0, unusual)),
);

const page = fc.record({
  items: anyItems,
  last: fc.option(fc.integer({ min: 1, max: 9_998 }), { nil: undefined }),
  members: shuffled(['Count', 'Items', 'LastEvaluatedKey', 'ScannedCount']),
  space: weighted(fc.constant(undefined), fc.constantFrom(1, '\t')),
});

/** The item in DynamoDB's JSON. */
const toItem = (attributes: Attributes) => marshall(Object.fromEntries(attributes));

/** The JSON of the books in a page, and the id after which it goes on. */
const readItems = (items: readonly object[], members: object = {}) =>
  readBooks(Buffer.from(JSON.stringify({ Count: items.length, Items: items, ...members })));

const toJson = (books: readonly unknown[]) => books.map((book) => JSON.stringify(book)).join();

test('the books of any page are those of single reads, character by character', () => {
  fc.assert(
    fc.property(page, ({ items, last, members, space }) => {
      const response: Record<string, unknown> = {
        Count: items.length,
        Items: items.map(toItem),
        LastEvaluatedKey: last && toItem(Object.entries(bookKey(last))),
        ScannedCount: 9,
      };
      const inOrder = Object.fromEntries(members.map((name) => [name, response[name]]));

      const result = readBooks(Buffer.from(JSON.stringify(inOrder, null, space)));

      const alone = items.map((attributes) => parseStoredBook(unmarshall(toItem(attributes))).book);
      const counts = { count: items.length, tombstones: 9 - items.length };
      expect(result).toEqual({ books: toJson(alone), continueAfter: last, ...counts });
    }),
    { numRuns: 3_000 },
  );
});

test('with a filter, a page has the books that match, and no others', () => {
  const filters = fc.record(anyFieldValues, { requiredKeys: [] }) as fc.Arbitrary<BookFilter>;
  // A random value is hardly ever that of a book of the page.
  const ofThePage = fc.option(fc.constantFrom(...(Object.keys(bookFields) as (keyof Book)[])));
  fc.assert(
    fc.property(anyItems, filters, ofThePage, (items, fields, name) => {
      const alone = items.map((attributes) => parseStoredBook(unmarshall(toItem(attributes))).book as Book);
      const matches = createPredicate(name === null ? fields : { [name]: alone[0]?.[name] ?? '' });

      const body = Buffer.from(JSON.stringify({ Count: items.length, Items: items.map(toItem) }));
      const { books } = readBooks(body, matches);

      const expected = alone.filter((book) => matches?.((of) => book[of as keyof Book]) ?? true);
      expect(books).toBe(toJson(expected));
    }),
    { numRuns: 1_000 },
  );
});

const bookOf = (id: number, year: number) => toItem([['id', id], ...Object.entries(aBook({ year }))]);

test('a filter parses of usual books only the fields that it needs', () => {
  const items = [5, 7, 5, 7].map((year, index) => bookOf(index, year));
  const body = Buffer.from(JSON.stringify({ Count: 4, Items: items }));
  const parse = vi.spyOn(JSON, 'parse');

  for (const [year, ids] of [
    [5, [0, 2]],
    [7, [1, 3]],
  ] as const) {
    const { books } = readBooks(body, createPredicate({ year }));

    expect(books).toBe(toJson(ids.map((id) => ({ id, ...aBook({ year }) }))));
    expect(parse.mock.calls.map(([text]) => text)).toEqual(['{"Count":4,"Items":[]}', '5', '7', '5', '7']);
    parse.mockClear();
  }
});

test.each([
  ['007', 7],
  ['-0', 0],
  ['1e3', 1000],
])('the number %s is read as JavaScript reads it', (text, year) => {
  expect(readItems([{ ...bookOf(1, 1), year: { N: text } }]).books).toBe(toJson([{ id: 1, ...aBook({ year }) }]));
});

test('a book without an id is damaged', () => {
  const items = [bookOf(1, 7), toItem([['title', 'Emma']])];

  expect(() => readItems(items)).toThrow('a book has no id');
  const body = Buffer.from(JSON.stringify({ Count: 2, Items: items }));
  expect(() => readBooks(body, createPredicate({ year: 7 }))).toThrow('a book has no id');
});

const fields = marshall(aBook());

/** Attributes of each kind of field. An attribute may be of several kinds. */
const attributesOf: Readonly<Record<Kind, readonly AttributeValue[]>> = {
  string: [{ S: '' }, { S: 'x' }],
  integer: [{ N: '0' }, { N: '-7' }],
  boolean: [{ BOOL: true }, { BOOL: false }],
};

const attributes: readonly AttributeValue[] = [
  ...Object.values(attributesOf).flat(),
  ...[{ NULL: true }, { N: '1.5' }, { N: '9007199254740993' }, { SS: ['x'] }, { NS: ['1'] }],
  ...[{ L: [] }, { L: [{ S: 'x' }] }, { L: [{ M: fields }] }, { M: {} }, { M: fields }],
  // The value that each field should have, one level deeper.
  ...Object.entries(fields).map(([name, attribute]) => ({ M: { [name]: attribute } })),
];

test.each(Object.entries(bookFields))(
  'a %s of the wrong type is an error alike in a list and in a single read',
  (name, { type }) => {
    const isReadable = (read: () => unknown) => {
      try {
        return read() !== undefined;
      } catch (error) {
        expect((error as Error).message).toContain(`book 7 has a "${name}" of the wrong type`);
        return false;
      }
    };
    const books = attributes.map((attribute) => ({ ...fields, id: { N: '7' }, [name]: attribute }));

    const alone = books.filter((book) => isReadable(() => parseStoredBook(unmarshall(book))));
    for (const colon of ['":', '" :', '"\n:\t']) {
      const inList = books.filter((book) => {
        const [page, beside] = [[book], [book, { id: { N: '8' } }]].map((items) => {
          const page = JSON.stringify({ Items: items, Count: items.length }, null, colon.length - 2);
          return isReadable(() => readBooks(Buffer.from(page.replaceAll('":', colon))));
        });
        // A book that is older than the field changes nothing.
        expect(beside).toBe(page);
        return page;
      });
      expect(inList).toEqual(alone);
    }
    const isOfKind = (attribute: AttributeValue) =>
      attributesOf[type].some((each) => isDeepStrictEqual(each, attribute));
    expect(alone.map((book) => book[name])).toEqual(attributes.filter(isOfKind));
  },
);

test('usual books are not parsed: those with all fields in any one order, and those that are older than some', () => {
  const fields: Record<string, unknown> = aBook();
  const [lacked = ''] = Object.keys(fields);
  const { [lacked]: _, ...others } = fields;
  const expected = toJson([1, 2, 3].map((id) => ({ id, ...fields })));
  const parse = vi.spyOn(JSON, 'parse');

  for (const inOrder of [Object.entries, (book: object) => Object.entries(book).toReversed()]) {
    const books = [{ id: 1, ...fields }, { id: 2, ...others }, { id: 3 }].map((book) => toItem(inOrder(book)));
    expect(readItems(books).books).toBe(expected);
  }

  const last = Object.keys(fields).at(-1) ?? '';
  const { [last]: __, ...older } = fields;
  const books = [
    { id: 1, ...older },
    { id: 2, ...fields },
  ].map((book) => toItem(Object.entries(book)));
  expect(readItems(books).books).toBe(toJson([1, 2].map((id) => ({ id, ...fields }))));

  const pages = [3, 3, 2].map((count) => `{"Count":${count},"Items":[]}`);
  expect(parse.mock.calls.map(([text]) => text)).toEqual(pages);
});

test.each([
  ['none', { LastEvaluatedKey: undefined }, undefined],
  ['an empty one', { LastEvaluatedKey: {} }, undefined],
  ['that of a book', { LastEvaluatedKey: { shard: { N: '1' }, id: { N: '10000' } } }, 10_000],
  ['that of the last id of a shard', { LastEvaluatedKey: { shard: { N: '0' }, id: { N: '9999' } } }, undefined],
])('a page whose last key is %s goes on after %#', (_name, members, continueAfter) => {
  expect(readItems([], members).continueAfter).toBe(continueAfter);
});

test('the last key of a page has an id', () => {
  const body = '{"Count":0,"Items":[],"LastEvaluatedKey":{"shard":{"N":"1"},"id":{"S":"1"}}}';

  expect(() => readBooks(Buffer.from(body))).toThrow('a page ends without an id');
});

const [usual, unusual] = [toItem([['id', 1]]), toItem([['id', 2 ** 53 - 1]])].map((item) => JSON.stringify(item));

test.each([...['{"Count":0}', '{"Count":1,"Items":[]}', '{"Items":[]}', `{"Count":1,"Items":[${[usual, unusual]}]}`]])(
  'the response %s is not a page, and another attempt is worth it',
  (body) => {
    const error = { name: 'AttemptError', message: 'the response is not a page of books', mayBeDone: false };
    for (const matches of [undefined, createPredicate({ year: 0 })]) {
      expect(() => readBooks(Buffer.from(body), matches)).toThrow(expect.objectContaining(error));
    }
  },
);

test.each([
  ...['', '"', 'null', '{}', '{"a":"\\', '{"Items":', '{"Items":[]}', '{"Count":0}'],
  ...['{"Items":[{"id":{"N":"1', '{"Count":2,"Items":[{"id":{"N":"1"}}]}'],
  ...['{"Count":1,"Items":[,{"id":{"N":"1"}}]}', '{"Count":1,"Items":[{"id":{"N":"1"}},]}'],
  // It breaks off inside a text.
  ...[
    '{"Count":1,"Items":[{"id":{"N":"1"},"title":{"S":"a]}',
    '{"Count":1,"Items":[{"id":{"N":"1"},"title":{"S":"a}]}',
  ],
])('the response %s, which is not a complete page, is an error', (body) => {
  expect(() => readBooks(Buffer.from(body))).toThrow();
});
