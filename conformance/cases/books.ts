import assert from 'node:assert/strict';
import { aBook, fieldSchemas, makeValues, unknownField } from '../a-book.ts';
import { createBook, deleteBook, expectCreated, expectMissing, expectStored } from '../books.ts';
import { defineCases } from '../case.ts';
import { expectResponse } from '../expect.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import { outcomes } from '../outcomes.ts';

const emma = aBook({ title: 'Emma', author: 'Jane Austen', year: 1815 });

const partialBodies: readonly object[] = [
  {},
  ...fieldSchemas.map(([name, schema]) => ({ [name]: makeValues(schema)[0] })),
  { title: 'Emma', author: 'Jane Austen' },
  { title: 'Emma', year: 1815 },
  { author: 'Jane Austen', year: 1815 },
  emma,
  { title: 'Dune', author: 'Frank Herbert', year: 1965 },
  aBook(),
];

/** Members that a body may have besides `year`. */
const ignoredMembers: readonly (readonly [string, string])[] = [
  ['an id', '"id":123456789'],
  ['the id null', '"id":null'],
  ['an id of the wrong type', '"id":{"x":[]}'],
  ['an unknown field', `"${unknownField}":"978-0-14-143958-7"`],
  ['unknown fields of every type', '"a":null,"b":[1,{"c":[]}],"d":{"title":"x"},"e":true,"f":1e999'],
  ['the names of the fields in another case', '"Title":"x","AUTHOR":"y","Year":1'],
  ['names of fields with spaces', '" title":"x","author ":"y"'],
  ['the attributes of a table', '"shard":7,"writeToken":"x","lastId":9,"pk":"x","sk":"y"'],
  ['__proto__', '"__proto__":{"title":"x","author":"y","year":1}'],
  ['constructor and toString', '"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":null'],
  ['an empty name', '"":1'],
];

/** POST /book with valid bodies. */
export const createBookCases = defineCases('create-book', (test) => {
  test('3.2, 6.4', 'Equal books have ids that increase, also after a deletion', async (context) => {
    const equal = await createBook(context);
    let last = equal.id;
    for (let round = 0; round < 5; round += 1) {
      const book = await createBook(context);
      assert.ok(book.id > last, `the id of the next book is above ${last}, got ${book.id}`);
      last = book.id;
      await expectStored(context, book);
      await deleteBook(context, book.id);
    }
    await expectStored(context, equal);
  });

  test('6.5', 'Location is the path of the created book', async (context) => {
    const response = await context.call('POST', '/book', emma);
    const book = expectCreated(response, emma);
    const { location = '' } = response.headers;
    assert.match(location, /^\/[^/]/, `Location is a path, got ${location}`);
    const there = new URL(location, context.resolve('/book'));
    assert.deepEqual(there, context.resolve(`/book/${book.id}`), 'where Location leads');
  });

  for (const body of partialBodies) {
    test(
      '6.2, 6.3, 8.1',
      `A book made of ${JSON.stringify(body)} is stored with defaults`,
      async (context) => {
        const response = await context.call('POST', '/book', body);
        await expectStored(context, expectCreated(response, body));
      },
    );
  }

  for (const [situation, members] of ignoredMembers) {
    test('2.4, 3.1', `In a body, ${situation} is ignored, not stored and not echoed`, async (context) => {
      const response = await context.call('POST', '/book', `{"title":"Emma",${members},"year":1815}`);
      const book = expectCreated(response, { title: 'Emma', author: '', year: 1815 });
      assert.notEqual(book.id, 123456789, 'the id is chosen by the service');
      await expectStored(context, book);
      const path = `/book/${book.id}`;
      expectResponse(await context.call('PUT', path, `{${members}}`), outcomes.bookUpdated, book);
      const changed = { ...book, year: 1 };
      expectResponse(await context.call('PUT', path, `{${members},"year":1}`), outcomes.bookUpdated, changed);
      await expectStored(context, changed);
    });
  }

  for (const body of ['{"title":"a","title":"b"}', '{"title":1,"title":"b"}', '{"title":"a","title":null}']) {
    test('2.5', `The body ${body} is read in one way or refused`, async (context) => {
      const response = await context.call('POST', '/book', body);
      assert.ok([201, 400].includes(response.status), `the status is 201 or 400, got ${response.status}`);
      if (response.status === 400) return;
      const { title } = JSON.parse(response.body.toString()).data;
      assert.match(title, /^[ab]$/, `the title is one of the two, got ${title}`);
      await expectStored(context, expectCreated(response, { title, author: '', year: 0 }));
    });
  }
});

/** PUT /book/{id} with valid bodies. */
export const updateBookCases = defineCases('update-book', (test) => {
  for (const changes of partialBodies) {
    test('9.3', `PUT with ${JSON.stringify(changes)} changes just that`, async (context) => {
      const [book, neighbour] = [await createBook(context), await createBook(context)];
      for (let round = 0; round < 2; round += 1) {
        const response = await context.call('PUT', `/book/${book.id}`, changes);
        expectResponse(response, outcomes.bookUpdated, { ...book, ...changes });
      }
      await expectStored(context, { ...book, ...changes });
      await expectStored(context, neighbour);
    });
  }

  test('2.4', 'The id of another book in the body of PUT is ignored and that book stays', async (context) => {
    const [book, other] = [await createBook(context), await createBook(context)];
    const response = await context.call('PUT', `/book/${book.id}`, { id: other.id, title: 'changed' });
    expectResponse(response, outcomes.bookUpdated, { ...book, title: 'changed' });
    await expectStored(context, other);
  });
});

/** DELETE /book/{id}. */
export const deleteBookCases = defineCases('delete-book', (test) => {
  const rules = '10.1, 10.2, 8.2, 9.1, 3.6';
  test(rules, 'A deleted book is not found, however often, and its neighbours stay', async (context) => {
    const before = await createBook(context);
    const { id } = await createBook(context);
    const after = await createBook(context);
    await deleteBook(context, id);
    for (let round = 0; round < 2; round += 1) {
      await expectMissing(context, id);
      expectResponse(await context.call('PUT', `/book/${id}`, { id, ...emma }), outcomes.bookNotFound);
      expectResponse(await context.call('DELETE', `/book/${id}`), outcomes.bookNotFound);
    }
    await expectStored(context, before);
    await expectStored(context, after);
  });
});

const unusualPath = { gatewayQuestion: gatewayQuestions.unusualPath };

/** Malformed ids made from an existing one, which a lenient parser would find. */
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
  ['2^53', () => '9007199254740992'],
  ['2^64 more than it', (id) => String(2n ** 64n + BigInt(id))],
  ['2^63 less than it', (id) => String(BigInt(id) - 2n ** 63n)],
  ['100 digits', () => '9'.repeat(100)],
];

/** The `{id}` of a path. */
export const bookIdCases = defineCases('book-ids', (test) => {
  for (const [situation, makeForm] of idForms) {
    const options = /[^\w.+-]/.test(makeForm(1)) ? unusualPath : {};
    test('3.5', `An id in the form of ${situation} names no book`, options, async (context) => {
      const book = await createBook(context);
      const path = `/book/${makeForm(book.id)}`;
      for (const [method, body] of [['GET'], ['PUT', emma], ['PUT', '{"title":'], ['DELETE']] as const) {
        expectResponse(await context.call(method, path, body), outcomes.bookNotFound);
      }
      await expectStored(context, book);
    });
  }

  test('1.5', 'A malformed percent-encoding in a path is a bad request', unusualPath, async (context) =>
    expectResponse(await context.call('GET', '/book/%zz'), outcomes.badRequest),
  );

  test('8.2, 9.1, 10.2', 'An id that never was a book is not found', async (context) => {
    const { id } = await createBook(context);
    for (const unused of [Number.MAX_SAFE_INTEGER, 2 ** 32 + id]) {
      for (const [method, body] of [['PUT', {}], ['PUT', { id: unused, ...emma }], ['DELETE']] as const) {
        expectResponse(await context.call(method, `/book/${unused}`, body), outcomes.bookNotFound);
        await expectMissing(context, unused);
      }
    }
  });
});

function shiftDigits(id: number, zero: number): string {
  return String(id).replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
}
