import assert from 'node:assert/strict';
import { allows, type BookFields, fieldSchemas, unknownField } from '../a-book.ts';
import type { Test } from '../case.ts';
import { dune, expectCreated } from '../catalog.ts';
import { expectData, expectFailure } from '../expect.ts';
import { outcomes } from '../outcomes.ts';

const depth = 100_000;

const invalidBodies: readonly (readonly [string, string | Buffer])[] = [
  ['is empty', ''],
  ['is only a space', ' '],
  ['is cut off', '{"title":"Emma"'],
  ['is a word', 'nonsense'],
  ['has a comma too many', '{"title":"Emma",}'],
  ['has a comment', '{"title":"Emma"/* by Jane Austen */}'],
  ['has text after its end', '{"title":"Emma"} x'],
  ['has a raw line feed in a string', '{"title":"a\nb"}'],
  ['has a raw NUL in a string', '{"title":"a\0b"}'],
  ['has a malformed escape', '{"title":"\\x41"}'],
  ['is an array of a book', '[{"title":"Emma"}]'],
  ['is JSON within a string', '"{\\"title\\":\\"Emma\\"}"'],
  ...['[]', '"x"', '1', 'null', 'true'].map((text) => [`is ${text}`, text] as const),
  ['has a valid field and an invalid one', '{"title":"changed","year":"x"}'],
  ['has a lone high surrogate as title', '{"title":"\\ud800"}'],
  ['has a lone low surrogate in its author', '{"author":"a\\udc00b"}'],
  ['has two surrogates in the wrong order', '{"title":"\\udc00\\ud800"}'],
  ['has a byte that is no UTF-8', Buffer.from('{"title":"\xff"}', 'latin1')],
  ['is in Latin-1', Buffer.from('{"title":"Caf\xe9"}', 'latin1')],
  ['has a character cut off', Buffer.from('{"title":"\xe2\x82"}', 'latin1')],
  ['has a surrogate in UTF-8', Buffer.from('{"title":"\xed\xa0\x80"}', 'latin1')],
  ['has a code point above U+10FFFF', Buffer.from('{"title":"\xf4\x90\x80\x80"}', 'latin1')],
  ['has no UTF-8 in an unknown field', Buffer.from(`{"title":"Emma","${unknownField}":"\xff"}`, 'latin1')],
  ['is in UTF-16', Buffer.from('{"title":"Emma"}', 'utf16le')],
  ['starts with a byte order mark', '\ufeff{"title":"Emma"}'],
  ['is 100,000 nested arrays', '['.repeat(depth) + ']'.repeat(depth)],
  ['is half a megabyte of no JSON', 'x'.repeat(512 * 1024)],
];

const contentTypes: readonly (string | undefined)[] = [
  undefined,
  'application/json; charset=iso-8859-1',
  'text/plain',
  'text/plain; charset=utf-16',
  'application/octet-stream',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'image/png',
];

const kilobyte = 1024;
const largeBody = { dependsOnGateway: true };

const largeTexts = fieldSchemas.flatMap(([name, { type, enum: allowed }]) =>
  type === 'string' && allowed === undefined ? name : [],
);

/** An item's limit counts the names and the other attributes as well, hence some room. */
const fitting: readonly (readonly [string, Partial<BookFields>])[] = [
  ...largeTexts.map((name) => [`390 KB of ${name}`, { [name]: 'x'.repeat(390 * kilobyte) }] as const),
  ['texts of 195 KB each', { title: 'x'.repeat(195 * kilobyte), author: 'y'.repeat(195 * kilobyte) }],
  ['a title of 390 KB in characters of 3 bytes', { title: '書'.repeat(130 * kilobyte) }],
  ['a title of 390 KB in characters of 4 bytes', { title: '📚'.repeat((390 / 4) * kilobyte) }],
];

const tooLarge: readonly (readonly [string, Partial<BookFields>])[] = [
  ...largeTexts.map((name) => [`410 KB of ${name}`, { [name]: 'x'.repeat(410 * kilobyte) }] as const),
  ['texts of 205 KB each', { title: 'x'.repeat(205 * kilobyte), author: 'y'.repeat(205 * kilobyte) }],
  ['a title of 410 KB in characters of 3 bytes', { title: '書'.repeat((410 / 3) * kilobyte + 1) }],
  ['a title of 1 MB', { title: 'x'.repeat(1024 * kilobyte) }],
];

/** Bodies of POST /book and PUT /book/{id}: invalid and large ones, and the Content-Type, which is ignored. */
export default function addCases(test: Test): void {
  const rules = '2.2, 2.3, 2.6, 6.1, 9.2';
  for (const [situation, body] of invalidBodies) {
    test(rules, `A body that ${situation} is invalid and changes nothing`, (catalog) =>
      catalog.expectRefused(body, outcomes.invalidInput),
    );
  }

  test('6.1, 2.8', 'A refused POST /book leaves no book behind', async (catalog) => {
    const author = `refused ${crypto.randomUUID()}`;
    const large = { author, title: 'x'.repeat(410 * 1024) };
    if (allows(large)) expectFailure(await catalog.call('POST', '/book', large), outcomes.payloadTooLarge);
    for (const wrong of [{ title: null }, { year: '1815' }, { year: 1.5 }]) {
      expectFailure(await catalog.call('POST', '/book', { author, ...wrong }), outcomes.invalidInput);
    }
    await catalog.expectListed(author, []);
  });

  test('9.1', 'For a missing book, PUT says so whatever its body is', async (catalog) => {
    const id = await catalog.createMissingId();
    const large = JSON.stringify({ title: 'x'.repeat(410 * 1024) });
    for (const body of [...invalidBodies.map(([, invalid]) => invalid), '{"title":"Emma"}', '{}', large]) {
      expectFailure(await catalog.call('PUT', `/book/${id}`, body), outcomes.bookNotFound);
    }
    await catalog.expectMissing(id);
  });

  test(
    '1.10, 2.8, 4.2, 12.4',
    'A body above 10 MB is too large before its token is checked and its book is looked for',
    largeBody,
    async (catalog) => {
      const body = 'x'.repeat(11 * 1024 * kilobyte);
      const id = await catalog.createMissingId();
      const create = await catalog.send({ method: 'POST', path: '/book', body });
      expectFailure(create, outcomes.payloadTooLarge);
      expectFailure(await catalog.call('PUT', `/book/${id}`, body), outcomes.payloadTooLarge);
    },
  );

  test('2.7', 'An unknown field of 100,000 nested objects is ignored or invalid', async (catalog) => {
    const body = `{"title":"Emma","${unknownField}":${'{"x":'.repeat(depth)}1${'}'.repeat(depth)}}`;
    const { id } = await catalog.createBook();
    for (const [method, path] of [['POST', '/book'] as const, ['PUT', `/book/${id}`] as const]) {
      const { status } = await catalog.call(method, path, body);
      assert.ok([200, 201, 400].includes(status), `the status of ${method} is 2xx or 400, got ${status}`);
    }
  });

  for (const contentType of contentTypes) {
    const headers: Record<string, string> = contentType === undefined ? {} : { 'Content-Type': contentType };
    const options = contentType === undefined ? { dependsOnGateway: true } : {};
    test('2.1', `A body of the Content-Type ${contentType} is read as JSON`, options, async (catalog) => {
      const fields = { title: 'Café 📚', author: 'é', year: 1965 };
      await catalog.expectAccepted(fields, fields, headers);
      for (const body of [Buffer.from('{"title":"\xe9"}', 'latin1'), 'title=x']) {
        await catalog.expectRefused(body, outcomes.invalidInput, headers);
      }
    });
  }

  for (const [situation, fields] of fitting) {
    test('2.8', `A book with ${situation} is stored and sent back whole`, { values: fields }, (catalog) => {
      const book = { ...dune, ...fields };
      return catalog.expectAccepted(book, book);
    });
  }

  for (const [situation, fields] of tooLarge) {
    test('2.8', `A book with ${situation} is too large and changes nothing`, { values: fields }, (catalog) =>
      catalog.expectRefused(fields, outcomes.payloadTooLarge),
    );
  }

  test('2.4, 2.8', 'A body of 500 KB of which a small book is left is accepted', async (catalog) => {
    const ignored = { [unknownField]: 'x'.repeat(500 * kilobyte) };
    const created = await catalog.call('POST', '/book', { title: 'Emma', ...ignored });
    const book = expectCreated(created, { title: 'Emma' });
    const updated = await catalog.call('PUT', `/book/${book.id}`, { year: 1815, ...ignored });
    expectData(updated, { ...book, year: 1815 });
  });

  test('6.1, 9.2', 'A large title beside a wrong year is invalid input and not too large', (catalog) =>
    catalog.expectRefused({ title: 'x'.repeat(410 * kilobyte), year: '1815' }, outcomes.invalidInput),
  );

  for (const megabytes of [5, 10]) {
    const values = { title: 'x'.repeat(megabytes * kilobyte * kilobyte) };
    const options = megabytes === 10 ? largeBody : { ...largeBody, values };
    test('2.8', `A body of more than ${megabytes} MB is too large`, options, async (catalog) =>
      expectFailure(await catalog.call('POST', '/book', values), outcomes.payloadTooLarge),
    );
  }
}
