import { createBook, createMissingId, deleteBook, expectMissing, expectStored } from '../book-steps.ts';
import { defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { outcomes } from '../outcomes.ts';

const rule2 = 'specification 10.2';

/** DELETE /book/{id}, and what is left of a deleted book: nothing. */
export const deleteBookCases = defineCases('delete-book', [
  {
    name: 'A deleted book is not found by GET, PUT and DELETE, and its neighbours stay',
    reference: 'specification 10.1, 10.2, 8.2, 9.1',
    run: async (context) => {
      const before = await createBook(context);
      const { id } = await createBook(context);
      const after = await createBook(context);
      await deleteBook(context, id);
      await expectMissing(context, id);
      expectAnswer(await context.call('PUT', `/book/${id}`, { title: 'Emma' }), outcomes.bookNotFound);
      expectAnswer(await context.call('DELETE', `/book/${id}`), outcomes.bookNotFound);
      await expectMissing(context, id);
      await expectStored(context, before);
      await expectStored(context, after);
    },
  },
  {
    name: 'An id that never was a book is not found by DELETE',
    reference: rule2,
    run: async (context) => {
      const answer = await context.call('DELETE', `/book/${Number.MAX_SAFE_INTEGER}`);
      expectAnswer(answer, outcomes.bookNotFound);
    },
  },
  {
    name: 'A second deletion of a book is not found, nor a third',
    reference: rule2,
    run: async (context) => {
      const id = await createMissingId(context);
      for (let round = 0; round < 2; round += 1) {
        expectAnswer(await context.call('DELETE', `/book/${id}`), outcomes.bookNotFound);
      }
    },
  },
  {
    name: 'Created books are found and deleted books are not, at once and every time',
    reference: 'specification 3.7',
    run: async (context) => {
      for (let round = 0; round < 10; round += 1) {
        const book = await createBook(context, { year: round });
        await expectStored(context, book);
        await deleteBook(context, book.id);
        await expectMissing(context, book.id);
      }
    },
  },
]);
