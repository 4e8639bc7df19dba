import assert from 'node:assert/strict';
import { aBook, fieldSchemas, unknownField } from '../a-book.ts';
import type { Test } from '../case.ts';
import { expectCreated } from '../catalog.ts';
import { expectData, expectFailure } from '../expect.ts';
import { makeValues } from '../field-values.ts';
import { outcomes } from '../outcomes.ts';

const emma = aBook({ title: 'Emma', author: 'Jane Austen', year: 1815 });

const partialBodies: readonly object[] = [
  {},
  ...fieldSchemas.map(([name, schema]) => ({ [name]: makeValues(schema)[0] })),
  { title: 'Emma', year: 1815 },
  emma,
  aBook(),
];

/** Members that a body may have besides `year`. */
const ignoredMembers: readonly (readonly [string, string])[] = [
  ['an id', '"id":123456789'],
  ['the id null', '"id":null'],
  ['an id of the wrong type', '"id":{"x":[]}'],
  ['an unknown field', `"${unknownField}":"978-0-14-143958-7"`],
  ...['null', '[1,{"title":[]}]', '{"title":"x"}', 'true', '1e999'].map(
    (value) => [`the unknown field ${value}`, `"${unknownField}":${value}`] as const,
  ),
  ['the names of the fields in another case', '"Title":"x","AUTHOR":"y","Year":1'],
  ['names of fields with spaces', '" title":"x","author ":"y"'],
  ['the attributes of a table', '"shard":7,"version":"x","lastId":9,"pk":"x","sk":"y"'],
  ['__proto__', '"__proto__":{"title":"x","author":"y","year":1}'],
  ['constructor and toString', '"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":null'],
  ['an empty name', '"":1'],
];

/** Ids that no book has: malformed ones, made from an existing one that a lenient parser would find, and large ones. */
const idForms: readonly (readonly [string, (id: number) => string])[] = [
  ['a word', () => 'abc'],
  ['0', () => '0'],
  ['a leading zero', (id) => `0${id}`],
  ['a minus', (id) => `-${id}`],
  ['an encoded plus', (id) => `%2B${id}`],
  ['a fraction of zero', (id) => `${id}.0`],
  ['a fraction', (id) => `${id}.5`],
  ['an exponent', (id) => `${id}e0`],
  ['hexadecimal digits', (id) => `0x${id.toString(16)}`],
  ['a letter after it', (id) => `${id}a`],
  ['a space before it', (id) => `%20${id}`],
  ['a space after it', (id) => `${id}%20`],
  ['a list of it', (id) => `${id},${id}`],
  ['an underscore in it', (id) => `${String(id).slice(0, 1)}_${String(id).slice(1)}`],
  ['quotes around it', (id) => `%22${id}%22`],
  ['full-width digits', (id) => encodeURIComponent(shiftDigits(id, 0xff10))],
  ['Arabic digits', (id) => encodeURIComponent(shiftDigits(id, 0x0660))],
  ['2^53-1', () => '9007199254740991'],
  ['2^53', () => '9007199254740992'],
  ['2^32 more than it', (id) => String(2 ** 32 + id)],
  ['2^64 more than it', (id) => String(2n ** 64n + BigInt(id))],
  ['2^63 less than it', (id) => String(BigInt(id) - 2n ** 63n)],
  ['100 digits', () => '9'.repeat(100)],
];

const unusualPath = { dependsOnGateway: true };

/** Creating, updating and deleting books by valid requests, and the `{id}` of a path. */
export default function addCases(test: Test): void {
  test('3.2, 6.4', 'Equal books have ids that increase, also after a deletion', async (catalog) => {
    const equal = await catalog.createBook();
    let last = equal.id;
    for (let round = 0; round < 5; round += 1) {
      const book = await catalog.createBook();
      assert.ok(book.id > last, `the id of the next book is above ${last}, got ${book.id}`);
      last = book.id;
      await catalog.expectStored(book);
      await catalog.deleteBook(book.id);
    }
    await catalog.expectStored(equal);
  });

  test('6.5', 'Location is the path of the created book', async (catalog) => {
    const response = await catalog.call('POST', '/book', emma);
    const { id } = expectCreated(response, emma);
    const { location = '' } = response.headers;
    assert.match(location, /^\/[^/]/, `Location is a path, got ${location}`);
    const there = new URL(location, catalog.session.resolve('/book'));
    assert.deepEqual(there, catalog.session.resolve(`/book/${id}`), 'where Location leads');
  });

  for (const body of partialBodies) {
    const text = JSON.stringify(body);
    test('6.2, 6.3, 8.1', `A book made of ${text} is stored with defaults`, async (catalog) => {
      const response = await catalog.call('POST', '/book', body);
      await catalog.expectStored(expectCreated(response, body));
    });

    test('9.3', `PUT with ${text} changes just that`, async (catalog) => {
      const [book, neighbour] = [await catalog.createBook(), await catalog.findSharedBook()];
      const changed = await catalog.updateBook(book, body);
      await catalog.updateBook(changed, body);
      await catalog.expectStored(changed);
      await catalog.expectStored(neighbour);
    });
  }

  for (const [situation, members] of ignoredMembers) {
    test('2.4, 3.1', `In a body, ${situation} is ignored, not stored and not echoed`, async (catalog) => {
      const response = await catalog.call('POST', '/book', `{"title":"Emma",${members},"year":1815}`);
      const book = expectCreated(response, { title: 'Emma', author: '', year: 1815 });
      assert.notEqual(book.id, 123456789, 'the id is chosen by the service');
      await catalog.expectStored(book);
      const path = `/book/${book.id}`;
      expectData(await catalog.call('PUT', path, `{${members}}`), book);
      const changed = { ...book, year: 1 };
      expectData(await catalog.call('PUT', path, `{${members},"year":1}`), changed);
      await catalog.expectStored(changed);
    });
  }

  for (const body of ['{"title":"a","title":"b"}', '{"title":1,"title":"b"}']) {
    test('2.5', `Of a member that occurs twice, the last value counts: ${body}`, async (catalog) => {
      const response = await catalog.call('POST', '/book', body);
      const book = expectCreated(response, { title: 'b' });
      await catalog.expectStored(book);
      await catalog.updateBook(book, { title: 'c' });
      expectData(await catalog.call('PUT', `/book/${book.id}`, body), book);
    });
  }

  test('2.5', 'A member that occurs twice is refused when its last value is invalid', async (catalog) =>
    expectFailure(await catalog.call('POST', '/book', '{"title":"a","title":null}'), outcomes.invalidInput),
  );

  const rules = '10.1, 10.2, 8.2, 9.1, 3.6';
  test(rules, 'A deleted book is not found, however often, and its neighbours stay', async (catalog) => {
    const before = await catalog.createBook();
    const id = await catalog.createMissingId();
    const after = await catalog.createBook();
    for (let round = 0; round < 2; round += 1) {
      await catalog.expectMissing(id);
      expectFailure(await catalog.call('PUT', `/book/${id}`, { id, ...emma }), outcomes.bookNotFound);
      expectFailure(await catalog.call('DELETE', `/book/${id}`), outcomes.bookNotFound);
    }
    await catalog.expectStored(before);
    await catalog.expectStored(after);
  });

  for (const [situation, makeForm] of idForms) {
    const options = /[^\w.+-]/.test(makeForm(1)) ? unusualPath : {};
    test('3.5, 8.2, 9.1, 10.2', `An id in the form of ${situation} names no book`, options, async (catalog) => {
      const book = await catalog.findSharedBook();
      const path = `/book/${makeForm(book.id)}`;
      for (const [method, body] of [['PUT', emma], ['PUT', '{"title":'], ['GET'], ['DELETE']] as const) {
        expectFailure(await catalog.call(method, path, body), outcomes.bookNotFound);
      }
      await catalog.expectStored(book);
    });
  }

  test('1.5', 'A malformed percent-encoding in a path is a bad request', unusualPath, async (catalog) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expectFailure(await catalog.call(method, '/book/%zz'), outcomes.badRequest);
    }
  });
}

function shiftDigits(id: number, zero: number): string {
  return String(id).replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
}
