import assert from 'node:assert/strict';
import {
  type Book,
  createBook,
  createBooks,
  createMissingId,
  expectInList,
  expectMissing,
  expectStored,
  listBooks,
  pickBooks,
} from '../books.ts';
import { defineCases } from '../case.ts';
import { expectOutcome, expectResponse } from '../expect.ts';
import { inParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

const rounds = 10;

/** Concurrent requests. The runner runs these cases one at a time. */
export const concurrencyCases = defineCases('concurrency', (test) => {
  test('3.2, 7.1', '200 books created 20 at a time have 200 ids and are all there', async (context) => {
    const books = await createBooks(context, 200, 20);
    await expectInList(context, books);
  });

  test('9.4', 'Updates of different fields of a book at the same time are all kept', async (context) => {
    const book = await createBook(context);
    const { id } = book;
    for (let year = 1; year <= rounds; year += 1) {
      const [title, author] = [`title ${year}`, `author ${year}`];
      const bodies = [{ title }, { author }, { year }];
      const responses = await inParallel(3, 3, (turn) => context.call('PUT', `/book/${id}`, bodies[turn]));
      for (const response of responses) expectOutcome(response, outcomes.bookUpdated);
      await expectStored(context, { ...book, title, author, year });
    }
  });

  test('10.3', 'Of ten deletions of a book at the same time, one succeeds', async (context) => {
    for (let round = 0; round < rounds; round += 1) {
      const { id } = await createBook(context);
      const responses = await inParallel(10, 10, () => context.call('DELETE', `/book/${id}`));
      const winner = responses.findIndex(({ status }) => status === 200);
      responses.forEach((response, index) => {
        expectResponse(response, index === winner ? outcomes.bookDeleted : outcomes.bookNotFound);
      });
      await expectMissing(context, id);
    }
  });

  test('3.6, 9.1', 'Updates at the same time as a deletion never bring the book back', async (context) => {
    for (let year = 0; year < rounds; year += 1) {
      const book = await createBook(context);
      const path = `/book/${book.id}`;
      const deleted = 3;
      const responses = await inParallel(7, 7, (turn) =>
        turn === deleted ? context.call('DELETE', path) : context.call('PUT', path, { title: 'late', year }),
      );
      responses.forEach((response, turn) => {
        if (turn === deleted) expectResponse(response, outcomes.bookDeleted);
        else if (response.status !== 200) expectResponse(response, outcomes.bookNotFound);
        else expectResponse(response, outcomes.bookUpdated, { ...book, title: 'late', year });
      });
      await expectMissing(context, book.id);
      assert.deepEqual(pickBooks(await listBooks(context), [book]), [], 'the book in the list');
    }
  });

  test('7.2, 3.7', 'A list taken while books come and go holds every book that stays', async (context) => {
    const staying = await createBooks(context, 20, 10);
    let isListing = true;
    await inParallel(4, 4, async (turn) => {
      if (turn > 0) {
        while (isListing) await createMissingId(context);
        return;
      }
      try {
        for (let round = 0; round < rounds; round += 1) await expectInList(context, staying);
      } finally {
        isListing = false;
      }
    });
  });

  test('9.5', 'A book that is read during an update is the old one or the new one', async (context) => {
    const { id } = await createBook(context, { title: '0', author: '0', year: 0 });
    const path = `/book/${id}`;
    await inParallel(60, 6, async (year) => {
      const [title, author] = [String(year), String(year)];
      const isUpdate = year % 2 === 0;
      const response = await (isUpdate
        ? context.call('PUT', path, { title, author, year })
        : context.call('GET', path));
      const book = expectOutcome(response, isUpdate ? outcomes.bookUpdated : outcomes.bookRetrieved) as Book;
      const isWhole = book.title === String(book.year) && book.author === String(book.year);
      assert.ok(isWhole, `title, author and year are those of one update, got ${JSON.stringify(book)}`);
    });
  });
});
