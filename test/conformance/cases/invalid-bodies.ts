import { createBook, createMissingId, expectMissing, expectStored, listBooks } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { expectEqual, expectTrue } from '../expectation.ts';
import { outcomes } from '../outcomes.ts';

const reference = 'specification 2.2, 2.3, 6.1, 9.2';

const depth = 100_000;

/** Bodies that cannot be parsed into book fields, each with the situation as a part of a sentence. */
const invalidBodies: readonly (readonly [string, string | Buffer])[] = [
  ['is empty', ''],
  ['is only a space', ' '],
  ['is cut off', '{"title":"Emma"'],
  ['is a word', 'nonsense'],
  ['has single quotes', "{'title':'Emma'}"],
  ['has a comma too many', '{"title":"Emma",}'],
  ['has a comment', '{"title":"Emma"/* by Jane Austen */}'],
  ['has text after its end', '{"title":"Emma"} x'],
  ['is two objects', '{"title":"Emma"}{"title":"Emma"}'],
  ['has a raw line feed in a string', '{"title":"a\nb"}'],
  ['has a raw NUL in a string', '{"title":"a\0b"}'],
  ['has a malformed escape', '{"title":"\\x41"}'],
  ['is a form', 'title=Emma&author=Jane+Austen&year=1815'],
  ['is the array []', '[]'],
  ['is an array of a book', '[{"title":"Emma"}]'],
  ['is the string "x"', '"x"'],
  ['is JSON within a string', '"{\\"title\\":\\"Emma\\"}"'],
  ['is the number 1', '1'],
  ['is null', 'null'],
  ['is true', 'true'],
  ...['null', '1', 'true', '[]', '["x"]', '{}'].flatMap((value): [string, string][] => [
    [`has the title ${value}`, `{"title":${value},"author":"x","year":1}`],
    [`has the author ${value}`, `{"title":"x","author":${value},"year":1}`],
  ]),
  ['has a lone high surrogate as title', '{"title":"\\ud800"}'],
  ['has a lone low surrogate in its author', '{"author":"a\\udc00b"}'],
  ['has two surrogates in the wrong order', '{"title":"\\udc00\\ud800"}'],
  ['has a byte that is no UTF-8', Buffer.from('{"title":"\xff"}', 'latin1')],
  ['is in Latin-1', Buffer.from('{"title":"Caf\xe9"}', 'latin1')],
  ['has an overlong NUL', Buffer.from('{"title":"\xc0\x80"}', 'latin1')],
  ['has a character cut off', Buffer.from('{"title":"\xe2\x82"}', 'latin1')],
  ['has a surrogate in UTF-8', Buffer.from('{"title":"\xed\xa0\x80"}', 'latin1')],
  ['has a code point above U+10FFFF', Buffer.from('{"title":"\xf4\x90\x80\x80"}', 'latin1')],
  ['has no UTF-8 in an unknown field', Buffer.from('{"title":"Emma","isbn":"\xff"}', 'latin1')],
  ['is in UTF-16', Buffer.from('{"title":"Emma"}', 'utf16le')],
  ['is in UTF-16 with a byte order mark', Buffer.from('\ufeff{"title":"Emma"}', 'utf16le')],
  ['starts with a byte order mark', '\ufeff{"title":"Emma"}'],
  ['is 100,000 arrays within each other', '['.repeat(depth) + ']'.repeat(depth)],
  ['is 100,000 opening brackets', '['.repeat(depth)],
  ['is half a megabyte of no JSON', 'x'.repeat(512 * 1024)],
];

/** Bodies that cannot be parsed, in POST /book and PUT /book/{id} alike. */
export const invalidBodyCases = defineCases('invalid-bodies', [
  ...invalidBodies.map(
    ([situation, body]): CaseDefinition => ({
      name: `A body that ${situation} is invalid input and changes nothing`,
      reference,
      run: async (context) => {
        const book = await createBook(context);
        expectAnswer(await context.call('POST', '/book', body), outcomes.invalidInput);
        expectAnswer(await context.call('PUT', `/book/${book.id}`, body), outcomes.invalidInput);
        await expectStored(context, book);
      },
    }),
  ),
  {
    name: 'A refused POST /book leaves no book behind',
    reference,
    run: async (context) => {
      const title = `refused ${crypto.randomUUID()}`;
      for (const body of [
        { title, author: null },
        { title, year: '1815' },
        { title, year: 1.5 },
      ]) {
        expectAnswer(await context.call('POST', '/book', body), outcomes.invalidInput);
      }
      const made = (await listBooks(context)).filter((book) => book.title === title);
      expectEqual('books made by refused requests', made, []);
    },
  },
  {
    name: 'A PUT with one valid and one invalid field changes neither',
    reference,
    run: async (context) => {
      const book = await createBook(context);
      for (const body of [
        { title: 'changed', year: 'x' },
        { title: 'changed', author: 1 },
        { year: 1, title: null },
      ]) {
        expectAnswer(await context.call('PUT', `/book/${book.id}`, body), outcomes.invalidInput);
      }
      await expectStored(context, book);
    },
  },
  {
    name: 'For a missing book, PUT says so whatever its body is',
    reference: 'specification 9.1',
    run: async (context) => {
      const id = await createMissingId(context);
      for (const [, body] of [
        ...invalidBodies,
        ['is valid', '{"title":"Emma"}'],
        ['changes nothing', '{}'],
      ]) {
        expectAnswer(await context.call('PUT', `/book/${id}`, body), outcomes.bookNotFound);
      }
      await expectMissing(context, id);
    },
  },
  {
    name: 'An unknown field of 100,000 objects within each other is ignored or invalid, never a server error',
    reference: 'specification 2.7',
    run: async (context) => {
      const body = `{"title":"Emma","x":${'{"x":'.repeat(depth)}1${'}'.repeat(depth)}}`;
      const { id } = await createBook(context);
      for (const [method, path] of [
        ['POST', '/book'],
        ['PUT', `/book/${id}`],
      ] as const) {
        const { status } = await context.call(method, path, body);
        expectTrue(`the status of ${method}`, [200, 201, 400].includes(status), '2xx or 400', status);
      }
    },
  },
]);
