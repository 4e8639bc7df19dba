import type { HttpResponse } from '../../support/http-client.ts';
import {
  type Book,
  type BookFields,
  createBook,
  deleteBook,
  expectBooks,
  expectCreated,
  expectMissing,
  expectStored,
  listBooks,
} from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import type { ConformanceContext } from '../context.ts';
import { expectAnswer, expectOutcome } from '../envelope.ts';
import { expectEqual, expectTrue } from '../expectation.ts';
import { workInParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

const visibleAscii = String.fromCharCode(...Array.from({ length: 0x7e - 0x20 }, (_, index) => 0x21 + index));

/** Each followed by a UUID where it would not be the same in every run: keys are remembered for 7 days. */
const validKeys: readonly (readonly [string, () => string])[] = [
  ['a UUID', () => crypto.randomUUID()],
  ['a UUID in quotation marks', () => `"${crypto.randomUUID()}"`],
  ['255 characters', () => crypto.randomUUID().padEnd(255, 'x')],
  ['all visible ASCII characters', () => visibleAscii + crypto.randomUUID()],
  ['a comma in it', () => `a,${crypto.randomUUID()}`],
  ["another book's id before it", () => `1${crypto.randomUUID()}`],
  ['the form of a path', () => `/book/1?${crypto.randomUUID()}`],
];

/** The same in every run, so that another run may have used them. */
const fixedKeys = ['x', '1', '0', '-1', '*', '"', '""', '__proto__', 'constructor', 'null'];

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

/** Bodies that are read as the fields of {@link emma}. */
const equalBodies: readonly (readonly [string, string])[] = [
  ['the members in another order', '{"year":0,"author":"","title":"Emma"}'],
  ['white space', ' {\n\t"title" : "Emma" , "author":"", "year" : 0 }\r\n'],
  ['escapes', '{"\\u0074itle":"\\u0045mma","author":"","year":0}'],
  ['zero values left out', '{"title":"Emma"}'],
  ['an ignored member', '{"title":"Emma","isbn":"978-0-14-143958-7","author":"","year":0}'],
  ['an id', '{"id":7,"title":"Emma","author":"","year":0}'],
];

const emma: BookFields = { title: 'Emma', author: '', year: 0 };

/** Each pair is two different books, however their fields are put together. */
const differentFields: readonly (readonly [string, Partial<BookFields>, Partial<BookFields>])[] = [
  ['another title', { title: 'Emma' }, { title: 'emma' }],
  ['another author', { author: 'a' }, { author: 'b' }],
  ['another year', { year: 1815 }, { year: 1816 }],
  ['a negative year', { year: 1815 }, { year: -1815 }],
  ['title and author exchanged', { title: 'a', author: 'b' }, { title: 'b', author: 'a' }],
  ['the same texts, cut elsewhere', { title: 'a', author: 'bc' }, { title: 'ab', author: 'c' }],
  ['a comma moved', { title: 'a,', author: 'b' }, { title: 'a', author: ',b' }],
  ['JSON in a title', { title: 'a', author: 'b' }, { title: 'a","author":"b' }],
  ['the year in a text', { author: 'a', year: 1 }, { author: 'a1', year: 0 }],
  ['another Unicode form', { title: '\u00e9' }, { title: 'e\u0301' }],
  ['no title', { title: 'a' }, {}],
  ['the largest year and the one below', { year: 2 ** 53 - 1 }, { year: 2 ** 53 - 2 }],
];

const refusals: readonly (readonly [string, unknown, keyof typeof outcomes])[] = [
  ['malformed JSON', '{"title":', 'invalidInput'],
  ['a wrong type', { title: 1 }, 'invalidInput'],
  ['a book that is too large', { title: 'x'.repeat(410 * 1024) }, 'payloadTooLarge'],
];

/** POST /book with the header Idempotency-Key. */
export const idempotencyKeyCases = defineCases('idempotency-keys', [
  {
    name: 'The first request with a key has the usual response, and the book is stored',
    reference: 'specification 11.2',
    run: async (context) => {
      const answer = await create(context, crypto.randomUUID(), emma);
      await expectStored(context, expectFirst(answer, emma));
    },
  },
  {
    name: 'The same request again has the same response, marked as replayed, and there is one book',
    reference: 'specification 11.3, 11.11',
    run: async (context) => {
      const fields = { ...emma, author: `once ${crypto.randomUUID()}` };
      const key = crypto.randomUUID();
      const first = await create(context, key, fields);
      const book = expectFirst(first, fields);
      for (let round = 0; round < 3; round += 1) {
        expectReplay(await create(context, key, fields), first, book);
      }
      await expectListedOnce(context, book);
    },
  },
  ...equalBodies.map(
    ([situation, body]): CaseDefinition => ({
      name: `The same fields in a body with ${situation} are the same request`,
      reference: 'specification 11.4',
      run: async (context) => {
        const key = crypto.randomUUID();
        const first = await create(context, key, emma);
        const book = expectFirst(first, emma);
        expectReplay(await create(context, key, body), first, book);
        const otherKey = crypto.randomUUID();
        const other = await create(context, otherKey, body);
        expectReplay(await create(context, otherKey, emma), other, expectFirst(other, emma));
      },
    }),
  ),
  {
    name: 'A replay has the data of the first response although the book has been changed since',
    reference: 'specification 11.5',
    run: async (context) => {
      const key = crypto.randomUUID();
      const first = await create(context, key, emma);
      const book = expectFirst(first, emma);
      const changed = { ...book, title: 'changed', year: 1 };
      const path = `/book/${book.id}`;
      expectAnswer(await context.call('PUT', path, changed), outcomes.bookUpdated, changed);
      expectReplay(await create(context, key, emma), first, book);
      await expectStored(context, changed);
    },
  },
  {
    name: 'A replay has the data of the first response although the book is gone, and does not bring it back',
    reference: 'specification 11.5',
    run: async (context) => {
      const fields = { ...emma, author: `gone ${crypto.randomUUID()}` };
      const key = crypto.randomUUID();
      const first = await create(context, key, fields);
      const book = expectFirst(first, fields);
      await deleteBook(context, book.id);
      for (let round = 0; round < 3; round += 1) {
        expectReplay(await create(context, key, fields), first, book);
        await expectMissing(context, book.id);
      }
      const listed = (await listBooks(context)).filter(({ author }) => author === fields.author);
      expectEqual('the book in the list', listed, []);
    },
  },
  {
    name: 'Of ten requests with a key at the same time, all have the same book, and there is one',
    reference: 'specification 11.3',
    run: async (context) => {
      for (let round = 0; round < 5; round += 1) {
        const fields = { ...emma, author: `at once ${crypto.randomUUID()}` };
        const key = crypto.randomUUID();
        const answers = await workInParallel(Array(10).keys(), 10, () => create(context, key, fields));
        const books = answers.map((answer) => expectCreated(answer, fields));
        expectEqual('the ids', new Set(books.map(({ id }) => id)).size, 1);
        expectEqual('the tags', new Set(answers.map(({ headers }) => headers.etag)).size, 1);
        const [book] = books as [Book];
        const [first] = answers as [HttpResponse];
        expectReplay(await create(context, key, fields), first, book);
        await expectListedOnce(context, book);
      }
    },
  },
  {
    name: 'Of requests with a key and different fields at the same time, one book wins and the others are refused',
    reference: 'specification 11.3, 11.6',
    run: async (context) => {
      for (let round = 0; round < 5; round += 1) {
        const author = `rivals ${crypto.randomUUID()}`;
        const key = crypto.randomUUID();
        const answers = await workInParallel(Array(10).keys(), 10, (turn) =>
          create(context, key, { title: '', author, year: turn % 5 }),
        );
        const listed = (await listBooks(context)).filter((book) => book.author === author);
        expectEqual('the books in the list', listed.length, 1);
        const [{ id, ...fields }] = listed as [Book];
        answers.forEach((answer, turn) => {
          if (turn % 5 === fields.year) expectEqual('the id', expectCreated(answer, fields).id, id);
          else expectAnswer(answer, outcomes.idempotencyKeyUsed);
        });
      }
    },
  },
  ...differentFields.map(
    ([situation, fields, others]): CaseDefinition => ({
      name: `A key that was used for other fields is refused and nothing is stored: ${situation}`,
      reference: 'specification 11.6',
      run: async (context) => {
        const key = crypto.randomUUID();
        const first = await create(context, key, fields);
        const book = expectFirst(first, { title: '', author: '', year: 0, ...fields });
        const before = await createBook(context);
        expectAnswer(await create(context, key, others), outcomes.idempotencyKeyUsed);
        const after = await createBook(context);
        const page = await context.call('GET', `/books?limit=1000&after=${before.id}`);
        const between = expectBooks(page).filter(
          (listed) =>
            listed.id < after.id &&
            listed.title === (others.title ?? '') &&
            listed.author === (others.author ?? '') &&
            listed.year === (others.year ?? 0),
        );
        expectEqual('books made by the refused request', between, []);
        expectReplay(await create(context, key, fields), first, book);
        await expectStored(context, book);
      },
    }),
  ),
  {
    name: 'A key is refused for other fields although the book has these fields by now',
    reference: 'specification 11.5, 11.6',
    run: async (context) => {
      const key = crypto.randomUUID();
      const { id } = expectFirst(await create(context, key, emma), emma);
      const changes = { title: 'changed' };
      expectOutcome(await context.call('PUT', `/book/${id}`, changes), outcomes.bookUpdated);
      expectAnswer(await create(context, key, { ...emma, ...changes }), outcomes.idempotencyKeyUsed);
    },
  },
  {
    name: 'Keys that differ in case, in quotation marks or at their ends are different keys',
    reference: 'specification 11.1',
    run: async (context) => {
      const key = `Key-${crypto.randomUUID()}`;
      const keys = [key, key.toLowerCase(), key.toUpperCase(), `"${key}"`, `'${key}'`, `${key}.`, `${key}/`];
      const ids = new Set<number>();
      for (const one of keys) ids.add(expectFirst(await create(context, one, emma), emma).id);
      expectEqual('the number of different ids', ids.size, keys.length);
    },
  },
  ...validKeys.map(
    ([situation, makeKey]): CaseDefinition => ({
      name: `A key with ${situation} is accepted`,
      reference: 'specification 11.1',
      run: async (context) => {
        const key = makeKey();
        const first = await create(context, key, emma);
        expectReplay(await create(context, key, emma), first, expectFirst(first, emma));
      },
    }),
  ),
  ...fixedKeys.map(
    (key): CaseDefinition => ({
      name: `The key ${key} is accepted and reaches nothing but its own book`,
      reference: 'specification 11.1',
      run: async (context) => {
        const fields = { ...emma, author: `fixed ${crypto.randomUUID()}` };
        const answer = await create(context, key, fields);
        // Another run may have used it, within the last 7 days and for other fields.
        if (answer.status === 422) expectAnswer(answer, outcomes.idempotencyKeyUsed);
        else await expectStored(context, expectCreated(answer, fields));
        const { id } = await createBook(context);
        expectTrue('the id of the next book', id > 0, 'above 0', id);
      },
    }),
  ),
  ...invalidKeys.map(
    ([situation, key]): CaseDefinition => ({
      name: `With ${situation}, the request is refused and nothing is stored`,
      reference: 'specification 11.1, 11.9',
      run: async (context) => {
        const fields = { ...emma, author: `refused ${crypto.randomUUID()}` };
        for (let round = 0; round < 2; round += 1) {
          expectAnswer(await create(context, key, fields), outcomes.invalidIdempotencyKey);
        }
        expectAnswer(await create(context, key, { title: 1 }), outcomes.invalidInput);
        const listed = (await listBooks(context)).filter(({ author }) => author === fields.author);
        expectEqual('books made by the refused requests', listed, []);
      },
    }),
  ),
  ...refusals.map(
    ([situation, body, outcome]): CaseDefinition => ({
      name: `A request that is refused for ${situation} leaves its key unused`,
      reference: 'specification 11.7, 11.9',
      run: async (context) => {
        const key = crypto.randomUUID();
        expectAnswer(await create(context, key, body), outcomes[outcome]);
        const first = await create(context, key, emma);
        const book = expectFirst(first, emma);
        // The body is looked at before the key's earlier use.
        if (outcome === 'invalidInput') expectAnswer(await create(context, key, body), outcomes.invalidInput);
        expectReplay(await create(context, key, emma), first, book);
      },
    }),
  ),
  ...[undefined, '', 'nonsense'].map(
    (token): CaseDefinition => ({
      name: `A request with the token ${JSON.stringify(token)} is refused first and leaves its key unused`,
      reference: 'specification 11.7, 11.9',
      run: async (context) => {
        const outcome = token ? outcomes.invalidToken : outcomes.tokenRequired;
        const key = crypto.randomUUID();
        for (const [sentKey, body] of [
          [key, '{"title":"Emma"}'],
          [key, '{'],
          ['', '{"title":"Emma"}'],
          ['', '{'],
        ] as const) {
          const headers = {
            'Idempotency-Key': sentKey,
            ...(token !== undefined && { Authorization: token }),
          };
          expectAnswer(await context.send({ method: 'POST', path: '/book', headers, body }), outcome);
        }
        expectFirst(await create(context, key, emma), emma);
      },
    }),
  ),
  {
    name: 'The name of the header may be in any case',
    reference: 'specification 11.1',
    run: async (context) => {
      const key = crypto.randomUUID();
      const first = await create(context, key, emma);
      const book = expectFirst(first, emma);
      for (const name of ['idempotency-key', 'IDEMPOTENCY-KEY', 'iDEMPOTENCY-kEY']) {
        expectReplay(await context.call('POST', '/book', emma, { [name]: key }), first, book);
      }
    },
  },
  ...['', 'x'.repeat(256), crypto.randomUUID()].map(
    (key): CaseDefinition => ({
      name: `Other endpoints ignore a key of ${key.length} characters`,
      reference: 'specification 11.10',
      run: async (context) => {
        const book = await createBook(context);
        const path = `/book/${book.id}`;
        const headers = { 'Idempotency-Key': key };
        for (const title of ['first', 'second']) {
          const answer = await context.call('PUT', path, { title }, headers);
          expectAnswer(answer, outcomes.bookUpdated, { ...book, title });
          const read = await context.call('GET', path, undefined, headers);
          expectAnswer(read, outcomes.bookRetrieved, { ...book, title });
        }
        expectOutcome(
          await context.call('GET', '/books?limit=1', undefined, headers),
          outcomes.booksRetrieved,
        );
        expectOutcome(await context.logIn(context.credentials, headers), outcomes.tokenGenerated);
        expectAnswer(await context.call('DELETE', path, undefined, headers), outcomes.bookDeleted);
        expectAnswer(await context.call('DELETE', path, undefined, headers), outcomes.bookNotFound);
      },
    }),
  ),
]);

function create(
  context: ConformanceContext,
  key: string | readonly string[],
  body: unknown,
): Promise<HttpResponse> {
  return context.call('POST', '/book', body, { 'Idempotency-Key': key });
}

function expectFirst(answer: HttpResponse, fields: BookFields): Book {
  const book = expectCreated(answer, fields);
  expectEqual('Idempotency-Replayed', answer.headers['idempotency-replayed'], undefined);
  return book;
}

function expectReplay(answer: HttpResponse, first: HttpResponse, book: Book): void {
  expectAnswer(answer, outcomes.bookCreated, book);
  const { etag, 'idempotency-replayed': replayed } = answer.headers;
  expectEqual('the headers', { etag, replayed }, { etag: first.headers.etag, replayed: 'true' });
}

async function expectListedOnce(context: ConformanceContext, book: Book): Promise<void> {
  const listed = (await listBooks(context)).filter(({ author }) => author === book.author);
  expectEqual('the book in the list', listed, [book]);
}
