import {
  type BookFields,
  createBook,
  createMissingId,
  expectCreated,
  expectMissing,
  expectStored,
  listBooks,
} from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { expectEqual } from '../expectation.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import { outcomes } from '../outcomes.ts';

const reference = 'specification 2.8';

const kilobyte = 1024;

/** An item's limit counts the names and the other attributes as well, hence some room. */
const fitting: readonly (readonly [string, Omit<BookFields, 'year'>])[] = [
  ['a title of 390 KB', { title: 'x'.repeat(390 * kilobyte), author: 'y' }],
  ['an author of 390 KB', { title: 'x', author: 'y'.repeat(390 * kilobyte) }],
  [
    'title and author of 195 KB each',
    { title: 'x'.repeat(195 * kilobyte), author: 'y'.repeat(195 * kilobyte) },
  ],
  ['a title of 390 KB in characters of 3 bytes', { title: '書'.repeat(130 * kilobyte), author: 'y' }],
  ['a title of 390 KB in characters of 4 bytes', { title: '📚'.repeat((390 / 4) * kilobyte), author: 'y' }],
];

const tooLarge: readonly (readonly [string, Partial<BookFields>])[] = [
  ['a title of 410 KB', { title: 'x'.repeat(410 * kilobyte) }],
  ['an author of 410 KB', { author: 'y'.repeat(410 * kilobyte) }],
  [
    'title and author of 205 KB each',
    { title: 'x'.repeat(205 * kilobyte), author: 'y'.repeat(205 * kilobyte) },
  ],
  ['a title of 410 KB in characters of 3 bytes', { title: '書'.repeat((410 / 3) * kilobyte + 1) }],
  ['a title of 1 MB', { title: 'x'.repeat(1024 * kilobyte) }],
];

/** Large books and large bodies. */
export const sizeCases = defineCases('sizes', [
  ...fitting.map(
    ([situation, fields]): CaseDefinition => ({
      name: `A book with ${situation} is stored and given back whole`,
      reference,
      run: async (context) => {
        const created = await createBook(context, { ...fields, year: 1 });
        await expectStored(context, created);
        const { id } = await createBook(context, { year: 1 });
        const updated = await context.call('PUT', `/book/${id}`, fields);
        expectAnswer(updated, outcomes.bookUpdated, { id, ...fields, year: 1 });
        await expectStored(context, { id, ...fields, year: 1 });
      },
    }),
  ),
  ...tooLarge.map(
    ([situation, fields]): CaseDefinition => ({
      name: `A book with ${situation} is too large and changes nothing`,
      reference,
      run: async (context) => {
        const book = await createBook(context);
        expectAnswer(await context.call('POST', '/book', fields), outcomes.payloadTooLarge);
        expectAnswer(await context.call('PUT', `/book/${book.id}`, fields), outcomes.payloadTooLarge);
        await expectStored(context, book);
      },
    }),
  ),
  {
    name: 'A book that is too large is not in the list',
    reference,
    run: async (context) => {
      const author = `refused ${crypto.randomUUID()}`;
      const body = { title: 'x'.repeat(410 * kilobyte), author };
      expectAnswer(await context.call('POST', '/book', body), outcomes.payloadTooLarge);
      const made = (await listBooks(context)).filter((book) => book.author === author);
      expectEqual('books made by the refused request', made.length, 0);
    },
  },
  {
    name: 'A small change that makes a book too large is refused and the book keeps its values',
    reference,
    run: async (context) => {
      const book = await createBook(context, { title: 'x'.repeat(300 * kilobyte), author: 'y' });
      const answer = await context.call('PUT', `/book/${book.id}`, { author: 'z'.repeat(150 * kilobyte) });
      expectAnswer(answer, outcomes.payloadTooLarge);
      await expectStored(context, book);
    },
  },
  {
    name: 'For a missing book, PUT says so even when its body makes a book that is too large',
    reference: 'specification 9.1',
    run: async (context) => {
      const id = await createMissingId(context);
      const body = { title: 'x'.repeat(410 * kilobyte) };
      expectAnswer(await context.call('PUT', `/book/${id}`, body), outcomes.bookNotFound);
      await expectMissing(context, id);
    },
  },
  {
    name: 'A body of 500 KB of which a small book is left is accepted',
    reference: 'specification 2.4, 2.8',
    run: async (context) => {
      const notes = 'x'.repeat(500 * kilobyte);
      const fields = { title: 'Emma', author: '', year: 0 };
      const created = await context.call('POST', '/book', { title: 'Emma', notes });
      const book = expectCreated(created, fields);
      const updated = await context.call('PUT', `/book/${book.id}`, { year: 1815, notes });
      expectAnswer(updated, outcomes.bookUpdated, { ...book, year: 1815 });
    },
  },
  {
    name: 'A large title of a wrong year is invalid input and not too large',
    reference: 'specification 6.1',
    run: async (context) => {
      const body = { title: 'x'.repeat(410 * kilobyte), year: '1815' };
      expectAnswer(await context.call('POST', '/book', body), outcomes.invalidInput);
    },
  },
  ...[5, 10].map(
    (megabytes): CaseDefinition => ({
      name: `A body of more than ${megabytes} MB is too large`,
      reference,
      gatewayQuestion: gatewayQuestions.largeBody,
      run: async (context) => {
        const body = JSON.stringify({ title: 'x'.repeat(megabytes * kilobyte * kilobyte) });
        expectAnswer(await context.call('POST', '/book', body), outcomes.payloadTooLarge);
      },
    }),
  ),
]);
