import { type BookFields, fieldSchemas } from '../a-book.ts';
import type { Test } from '../case.ts';
import { dune, expectCreated } from '../catalog.ts';
import { expectResponse } from '../expect.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import { outcomes } from '../outcomes.ts';

const kilobyte = 1024;
const largeBody = { gatewayQuestion: gatewayQuestions.largeBody };

const textFields = fieldSchemas.flatMap(([name, { type }]) => (type === 'string' ? name : []));

/** An item's limit counts the names and the other attributes as well, hence some room. */
const fitting: readonly (readonly [string, Partial<BookFields>])[] = [
  ...textFields.map((name) => [`390 KB of ${name}`, { [name]: 'x'.repeat(390 * kilobyte) }] as const),
  ['texts of 195 KB each', { title: 'x'.repeat(195 * kilobyte), author: 'y'.repeat(195 * kilobyte) }],
  ['a title of 390 KB in characters of 3 bytes', { title: '書'.repeat(130 * kilobyte) }],
  ['a title of 390 KB in characters of 4 bytes', { title: '📚'.repeat((390 / 4) * kilobyte) }],
];

const tooLarge: readonly (readonly [string, Partial<BookFields>])[] = [
  ...textFields.map((name) => [`410 KB of ${name}`, { [name]: 'x'.repeat(410 * kilobyte) }] as const),
  ['texts of 205 KB each', { title: 'x'.repeat(205 * kilobyte), author: 'y'.repeat(205 * kilobyte) }],
  ['a title of 410 KB in characters of 3 bytes', { title: '書'.repeat((410 / 3) * kilobyte + 1) }],
  ['a title of 1 MB', { title: 'x'.repeat(1024 * kilobyte) }],
];

/** Large books and large bodies. */
export default function addCases(test: Test): void {
  for (const [situation, fields] of fitting) {
    test('2.8', `A book with ${situation} is stored and sent back whole`, (catalog) => {
      const book = { ...dune, ...fields };
      return catalog.expectWritten(book, book);
    });
  }

  for (const [situation, fields] of tooLarge) {
    test('2.8', `A book with ${situation} is too large and changes nothing`, (catalog) =>
      catalog.expectRefused(fields, outcomes.payloadTooLarge),
    );
  }

  test('2.8', 'A small change that makes a book too large is refused', async (catalog) => {
    const book = await catalog.createBook({ title: 'x'.repeat(300 * kilobyte) });
    const response = await catalog.call('PUT', `/book/${book.id}`, { author: 'z'.repeat(150 * kilobyte) });
    expectResponse(response, outcomes.payloadTooLarge);
    await catalog.expectStored(book);
  });

  test('2.4, 2.8', 'A body of 500 KB of which a small book is left is accepted', async (catalog) => {
    const notes = 'x'.repeat(500 * kilobyte);
    const created = await catalog.call('POST', '/book', { title: 'Emma', notes });
    const book = expectCreated(created, { title: 'Emma' });
    const updated = await catalog.call('PUT', `/book/${book.id}`, { year: 1815, notes });
    expectResponse(updated, outcomes.bookUpdated, { ...book, year: 1815 });
  });

  test('6.1, 9.2', 'A large title beside a wrong year is invalid input and not too large', (catalog) =>
    catalog.expectRefused({ title: 'x'.repeat(410 * kilobyte), year: '1815' }, outcomes.invalidInput),
  );

  for (const megabytes of [5, 10]) {
    test('2.8', `A body of more than ${megabytes} MB is too large`, largeBody, async (catalog) => {
      const body = { title: 'x'.repeat(megabytes * kilobyte * kilobyte) };
      expectResponse(await catalog.call('POST', '/book', body), outcomes.payloadTooLarge);
    });
  }
}
