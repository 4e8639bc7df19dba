import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bookFields } from '../../../../lib/books/book.ts';
import { type EncodedBody, readFields, readGivenFields } from '../../../../lib/http/json-body.ts';
import { anyText, loneSurrogate } from '../../../support/any-text.ts';

const parseBookChanges = (encoded: EncodedBody) => readGivenFields(encoded, bookFields);
const parseNewBook = (encoded: EncodedBody) => readFields(encoded, bookFields);
const plain = (body: string): EncodedBody => ({ body, isBase64Encoded: false });
const read = (fields: object) => plain(JSON.stringify(fields));

const goodText = anyText;
const goodYear = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0),
);
const badText = fc.oneof(
  fc.jsonValue().filter((value) => typeof value !== 'string'),
  loneSurrogate.map((surrogate) => `a${surrogate}b`),
);
const badYear = fc.oneof(
  fc.jsonValue().filter((value) => !Number.isSafeInteger(value)),
  fc.constantFrom(2 ** 53, -(2 ** 53), 1.5, 1e300, '2020', true, null),
);

/** A member of a book with whether its value is one that it may have; `undefined` when it is left out. */
const member = <Good, Bad>(good: fc.Arbitrary<Good>, bad: fc.Arbitrary<Bad>) =>
  fc.option(
    fc.oneof(
      { arbitrary: good.map((value) => ({ value, valid: true })), weight: 4 },
      { arbitrary: bad.map((value) => ({ value, valid: false })), weight: 1 },
    ),
    { nil: undefined },
  );

const unknownName = fc
  .oneof(fc.string(), fc.constantFrom('id', 'Title', 'YEAR', 'writeToken', 'shard', 'lastId', 'constructor'))
  .filter((name) => !['title', 'author', 'year', '__proto__'].includes(name));

const model = fc.record({
  title: member(goodText, badText),
  author: member(goodText, badText),
  year: member(goodYear, badYear),
  unknown: fc.dictionary(unknownName, fc.jsonValue(), { maxKeys: 3 }),
  unknownFirst: fc.boolean(),
});

/** Writes a body out of the model, with what is to be read from it. */
function build({
  title,
  author,
  year,
  unknown,
  unknownFirst,
}: typeof model extends fc.Arbitrary<infer T> ? T : never) {
  const members = Object.entries({ title, author, year }).filter(([, given]) => given !== undefined);
  const known = Object.fromEntries(members.map(([name, given]) => [name, given?.value]));
  return {
    body: read(unknownFirst ? { ...unknown, ...known } : { ...known, ...unknown }),
    valid: members.every(([, given]) => given?.valid),
    known,
  };
}

describe('readGivenFields', () => {
  test('a body is read exactly if every field has its type, and nothing but the fields comes out', () => {
    fc.assert(
      fc.property(model, (fields) => {
        const { body, valid, known } = build(fields);

        const changes = parseBookChanges(body);

        // toBe's sense of -0 is not JSON's, which a roundtrip takes away.
        expect(changes && JSON.parse(JSON.stringify(changes))).toEqual(
          valid ? JSON.parse(JSON.stringify(known)) : undefined,
        );
        expect(Object.keys(changes ?? {}).sort()).toEqual(valid ? Object.keys(known).sort() : []);
      }),
      { numRuns: 1000 },
    );
  });

  test('an empty object has no changes', () => {
    expect(parseBookChanges(plain('{}'))).toEqual({});
  });

  test('a body that is no JSON object cannot be read', () => {
    expect(parseBookChanges(plain('[]'))).toBeUndefined();
    expect(parseBookChanges(plain('{"title":'))).toBeUndefined();
    expect(parseBookChanges({ body: null, isBase64Encoded: false })).toBeUndefined();
  });

  test.each([
    '1.5',
    '9007199254740992',
    '-9007199254740992',
    '9007199254740993',
    '9007199254740991.4',
    '1e400',
    '-1e400',
    '1e-400',
    '2020.00000000000000000001',
    'null',
    'true',
    '"2020"',
    '[2020]',
    '{}',
  ])('the year %s is refused', (literal) => {
    expect(parseBookChanges(plain(`{"year":${literal}}`))).toBeUndefined();
  });

  test.each([
    ['0', 0],
    ['-1', -1],
    ['2020.0', 2020],
    ['2.02e3', 2020],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
    ['9007199254740991.000', Number.MAX_SAFE_INTEGER],
  ])('the year %s is the integer %s', (literal, year) => {
    expect(parseBookChanges(plain(`{"year":${literal}}`))).toEqual({ year });
  });

  test.each(['title', 'author'])(
    'a %s with a lone surrogate is refused, as UTF-8 cannot carry it',
    (field) => {
      expect(parseBookChanges(plain(`{"${field}":"\\ud800"}`))).toBeUndefined();
      expect(parseBookChanges(plain(`{"${field}":"\\udc00\\ud800"}`))).toBeUndefined();
    },
  );

  test('a surrogate pair written as escapes is the character that it stands for', () => {
    expect(parseBookChanges(plain('{"title":"\\ud83d\\udcda"}'))).toEqual({ title: '📚' });
  });

  test('an id and unknown members, whatever their types, are left out', () => {
    const body = read({ id: 7, ID: null, writeToken: 'x', shard: -1, title: 'Emma', tags: [{}] });

    expect(parseBookChanges(body)).toEqual({ title: 'Emma' });
  });

  test('fields inside __proto__ and constructor are no fields', () => {
    const body = plain('{"__proto__":{"title":"a","year":"x"},"constructor":{"prototype":{"author":"b"}}}');

    expect(parseBookChanges(body)).toEqual({});
    expect(Object.keys(parseBookChanges(body) ?? {})).toEqual([]);
  });

  test('a body in base64 is read like a plain one', () => {
    const body = Buffer.from('{"title":"Zażółć"}').toString('base64');

    expect(parseBookChanges({ body, isBase64Encoded: true })).toEqual({ title: 'Zażółć' });
  });
});

describe('readFields', () => {
  test('a body is read exactly if every field has its type, and a missing field is the zero value', () => {
    fc.assert(
      fc.property(model, (fields) => {
        const { body, valid, known } = build(fields);

        const book = parseNewBook(body);

        const expected = { title: '', author: '', year: 0, ...known };
        expect(book && JSON.parse(JSON.stringify(book))).toEqual(
          valid ? JSON.parse(JSON.stringify(expected)) : undefined,
        );
      }),
    );
  });

  test('the zero values of one book do not leak into another', () => {
    expect(parseNewBook(plain('{"title":"Emma"}'))).toEqual({ title: 'Emma', author: '', year: 0 });
    expect(parseNewBook(plain('{}'))).toEqual({ title: '', author: '', year: 0 });
  });

  test('a body that is no JSON object cannot be read', () => {
    expect(parseNewBook(plain('null'))).toBeUndefined();
    expect(parseNewBook({ body: null, isBase64Encoded: false })).toBeUndefined();
  });
});
