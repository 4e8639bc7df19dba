import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { aBook, type BookFields, fieldSchemas, unknownField } from '../a-book.ts';
import type { Test } from '../case.ts';
import { type Book, type Catalog, expectCreated } from '../catalog.ts';
import { expectData, expectFailure, expectSuccess } from '../expect.ts';
import { makeValues } from '../field-values.ts';
import type { HttpResponse, RequestHeaders } from '../http-messages.ts';
import { inParallel } from '../in-parallel.ts';
import { type Outcome, outcomes } from '../outcomes.ts';

const visibleAscii = String.fromCharCode(...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index));

/** Keys that look like something else. Another run may have used the fixed ones within the last 7 days. */
const specialKeys: readonly (readonly [string, () => string])[] = [
  ...['x', '0', '*', '"', '__proto__', 'constructor', 'null'].map((key) => [key, () => key] as const),
  ['of a number', () => String(randomInt(2 ** 47))],
  ['of a negative number', () => String(-randomInt(2 ** 47))],
];

const invalidKeys: readonly (readonly [string, string | readonly string[]])[] = [
  ['an empty key', ''],
  ['a key of 256 characters', 'x'.repeat(256)],
  ['a key of 5,000 characters', 'x'.repeat(5000)],
  ['a key with a space in it', 'a b'],
  ['a key with a tab in it', 'a\tb'],
  ['a key with a letter beyond ASCII', 'clé'],
  ['two keys', ['a', 'b']],
  ['the same key twice', ['a', 'a']],
  ['a key and an empty one', ['a', '']],
];

const emma = aBook({ title: 'Emma' });

/** Bodies with the fields of {@link emma}. */
const equalBodies: readonly (readonly [string, string])[] = [
  ['the members in another order', '{"year":0,"author":"","title":"Emma"}'],
  ['white space', ' {\n\t"title" : "Emma" , "author":"", "year" : 0 }\r\n'],
  ['escapes', '{"\\u0074itle":"\\u0045mma","author":"","year":0}'],
  ['defaults left out', '{"title":"Emma"}'],
  ['an ignored member', `{"title":"Emma","${unknownField}":"978-0-14-143958-7","author":"","year":0}`],
  ['an id', '{"id":7,"title":"Emma","author":"","year":0}'],
];

/** Pairs of different books. */
const differentFields: readonly (readonly [string, Partial<BookFields>, Partial<BookFields>])[] = [
  ...fieldSchemas.map(([name, schema]) => {
    const [one, other] = makeValues(schema);
    return [`another ${name}`, { [name]: one }, { [name]: other }] as const;
  }),
  ['a title in another case', { title: 'Emma' }, { title: 'emma' }],
  ['a negative year', { year: 1815 }, { year: -1815 }],
  ['title and author exchanged', { title: 'a', author: 'b' }, { title: 'b', author: 'a' }],
  ['the same texts, cut elsewhere', { title: 'a', author: 'bc' }, { title: 'ab', author: 'c' }],
  ['a comma moved', { title: 'a,', author: 'b' }, { title: 'a', author: ',b' }],
  ['JSON in a title', { title: 'a', author: 'b' }, { title: 'a","author":"b' }],
  ['the year in a text', { author: 'a', year: 1 }, { author: 'a1', year: 0 }],
  ['another Unicode form', { title: '\u00e9' }, { title: 'e\u0301' }],
  ['no title', { title: 'a' }, {}],
];

/** Requests that are refused; the body is checked before the key's earlier use. */
const refusals: readonly (readonly [string, unknown, Record<string, string>, Outcome])[] = [
  ['malformed JSON', '{"title":', {}, outcomes.invalidInput],
  ['a wrong type', { title: 1 }, {}, outcomes.invalidInput],
  ['a book that is too large', { title: 'x'.repeat(410 * 1024) }, {}, outcomes.payloadTooLarge],
  ['an empty token', emma, { Authorization: '' }, outcomes.tokenRequired],
  ['an invalid token', emma, { Authorization: 'nonsense' }, outcomes.invalidToken],
];

/** POST /book with the header Idempotency-Key. */
export default function addCases(test: Test): void {
  const rules = '11.2, 11.3, 11.5, 11.11';
  test(rules, 'A repeated request is replayed, whatever has become of its one book', async (catalog) => {
    const fields = { ...emma, author: `once ${crypto.randomUUID()}` };
    const { key, book, expectReplay } = await createFirst(catalog, fields);
    const expectReplays = async (listed: readonly Book[]) => {
      for (let round = 0; round < 2; round += 1) {
        await expectReplay(fields);
        await catalog.expectListed(fields.author, listed);
      }
    };
    await expectReplays([book]);
    // A client that repeats a request after a while has another token.
    const { token: Authorization } = expectSuccess(await catalog.logIn()) as { token: string };
    await expectReplay(fields, { Authorization });
    const changes = { title: 'changed', year: 1 };
    const changed = await catalog.updateBook(book, changes);
    await expectReplays([changed]);
    expectFailure(await create(catalog, key, { ...fields, ...changes }), outcomes.idempotencyKeyUsed);
    await catalog.deleteBook(book.id);
    await expectReplays([]);
    await catalog.expectMissing(book.id);
  });

  for (const [situation, body] of equalBodies) {
    test('11.4', `The same fields in a body with ${situation} are the same request`, async (catalog) => {
      const { expectReplay } = await createFirst(catalog, emma, body);
      await expectReplay(emma);
    });
  }

  for (const count of [1, 5]) {
    test('11.3, 11.6', `Ten requests with a key and ${count} bodies make one book`, async (catalog) => {
      const author = `rivals ${crypto.randomUUID()}`;
      const key = crypto.randomUUID();
      const send = (turn: number) => create(catalog, key, { title: '', author, year: turn % count });
      const responses = await inParallel(10, 10, send);
      const first = responses.find(({ status }) => status === 201);
      assert.ok(first, 'a request makes the book');
      const { year } = expectSuccess(first) as Book;
      const book = expectCreated(first, { title: '', author, year });
      for (const [turn, response] of responses.entries()) {
        const isEqual = turn % count === year;
        if (isEqual) expectData(response, book);
        else expectFailure(response, outcomes.idempotencyKeyUsed);
        assert.equal(response.headers.etag, isEqual ? first.headers.etag : undefined, 'the tag');
      }
      checkReplay(await send(year), first, book);
      await catalog.expectListed(author, [book]);
    });
  }

  for (const [situation, fields, others] of differentFields) {
    test('11.6', `A used key is refused for other fields: ${situation}`, { values: others }, async (catalog) => {
      const { key, expectReplay } = await createFirst(catalog, aBook(fields));
      expectFailure(await create(catalog, key, others), outcomes.idempotencyKeyUsed);
      await expectReplay(fields);
    });
  }

  test('11.1', 'Keys of visible ASCII characters each have their own book', async (catalog) => {
    const key = `Key-${crypto.randomUUID()}`;
    const similar = [key, key.toLowerCase(), key.toUpperCase(), `"${key}"`, `'${key}'`, `${key}/`];
    const unusual = [
      key.padEnd(255, 'x'),
      key.padEnd(254, 'x'),
      visibleAscii + key,
      `a,${key}`,
      `1${key}`,
      `/book/1?${key}`,
    ];
    const keys = [...similar, ...unusual];
    const uses = await inParallel(keys.length, 4, (index) => createFirst(catalog, emma, emma, keys[index]));
    assert.equal(new Set(uses.map(({ book }) => book.id)).size, keys.length, 'the number of books');
    for (const { expectReplay } of uses) await expectReplay(emma);
  });

  for (const [situation, makeKey] of specialKeys) {
    test('11.1', `The key ${situation} is accepted and reaches nothing but its own book`, async (catalog) => {
      const fields = { ...emma, author: `special ${crypto.randomUUID()}` };
      const response = await create(catalog, makeKey(), fields);
      if (response.status === 422) expectFailure(response, outcomes.idempotencyKeyUsed);
      else await catalog.expectStored(expectCreated(response, fields));
    });
  }

  for (const [situation, key] of invalidKeys) {
    test('11.1, 11.9', `With ${situation}, the request is refused and nothing is stored`, async (catalog) => {
      const fields = { ...emma, author: `refused ${crypto.randomUUID()}` };
      expectFailure(await create(catalog, key, fields), outcomes.invalidIdempotencyKey);
      expectFailure(await create(catalog, key, { title: 1 }), outcomes.invalidInput);
      await catalog.expectListed(fields.author, []);
    });
  }

  for (const [situation, body, headers, outcome] of refusals) {
    const options = outcome === outcomes.payloadTooLarge ? { values: body as object } : {};
    test('11.7, 11.9', `A request refused for ${situation} leaves its key unused`, options, async (catalog) => {
      const key = crypto.randomUUID();
      const sendRefused = () => catalog.call('POST', '/book', body, { 'Idempotency-Key': key, ...headers });
      expectFailure(await sendRefused(), outcome);
      const { expectReplay } = await createFirst(catalog, emma, emma, key);
      if (outcome !== outcomes.payloadTooLarge) expectFailure(await sendRefused(), outcome);
      await expectReplay(emma);
    });
  }

  for (const key of ['', 'x'.repeat(256), crypto.randomUUID()]) {
    test('11.10', `Other endpoints ignore a key of ${key.length} characters`, async (catalog) => {
      const book = await catalog.createBook();
      const path = `/book/${book.id}`;
      const headers = { 'Idempotency-Key': key };
      const call = (method: string, to: string, body?: object) => catalog.call(method, to, body, headers);
      for (const title of ['first', 'second']) {
        expectData(await call('PUT', path, { title }), { ...book, title });
        expectData(await call('GET', path), { ...book, title });
      }
      expectSuccess(await call('GET', '/books?limit=1'));
      expectSuccess(await catalog.logIn(undefined, headers));
      expectData(await call('DELETE', path), null);
      expectFailure(await call('DELETE', path), outcomes.bookNotFound);
    });
  }
}

type Key = string | readonly string[];

function create(catalog: Catalog, key: Key, body: unknown, headers: RequestHeaders = {}): Promise<HttpResponse> {
  return catalog.call('POST', '/book', body, { 'Idempotency-Key': key, ...headers });
}

/** Uses a key for the first time. */
async function createFirst(
  catalog: Catalog,
  fields: BookFields,
  body: unknown = fields,
  key: string = crypto.randomUUID(),
) {
  const first = await create(catalog, key, body);
  const book = expectCreated(first, fields);
  assert.equal(first.headers['idempotency-replayed'], undefined, 'Idempotency-Replayed at first');
  /** Sends a body with the key, and checks that the response repeats the first one. */
  const expectReplay = async (again: unknown, headers?: RequestHeaders) =>
    checkReplay(await create(catalog, key, again, headers), first, book);
  return { key, book, expectReplay };
}

function checkReplay(response: HttpResponse, first: HttpResponse, book: Book): void {
  expectData(response, book);
  const { etag, location, 'idempotency-replayed': replayed } = response.headers;
  const expected = [first.headers.etag, first.headers.location, 'true'];
  assert.deepEqual([etag, location, replayed], expected, 'the headers of a replay');
}
