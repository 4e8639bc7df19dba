import { createBook, expectMissing, expectStored, listBooks, pickBooks } from '../book-steps.ts';
import { defineCases } from '../case.ts';
import { expectAnswer, expectOutcome } from '../envelope.ts';
import { expectEqual, expectTrue } from '../expectation.ts';
import { workInParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

const rounds = 10;

/** Requests at the same time. The runner gives these cases the service for themselves. */
export const concurrencyCases = defineCases('concurrency', [
  {
    name: '200 books created 20 at a time have 200 ids and are all there',
    reference: 'specification 3.2',
    run: async (context) => {
      const books = await workInParallel(Array(200).keys(), 20, (year) => createBook(context, { year }));
      expectEqual('the number of different ids', new Set(books.map(({ id }) => id)).size, 200);
      books.sort((a, b) => a.id - b.id);
      expectEqual('own books in the list', pickBooks(await listBooks(context), books), books);
    },
  },
  {
    name: 'Updates of different fields of a book at the same time are all kept',
    reference: 'specification 9.4',
    run: async (context) => {
      const { id } = await createBook(context);
      for (let round = 1; round <= rounds; round += 1) {
        const fields = { title: `title ${round}`, author: `author ${round}`, year: round };
        const { title, author, year } = fields;
        const answers = await workInParallel([{ title }, { author }, { year }], 3, (body) =>
          context.call('PUT', `/book/${id}`, body),
        );
        for (const answer of answers) expectOutcome(answer, outcomes.bookUpdated);
        await expectStored(context, { id, ...fields });
      }
    },
  },
  {
    name: 'Of ten deletions of a book at the same time, one succeeds and nine do not find it',
    reference: 'specification 10.3',
    run: async (context) => {
      for (let round = 0; round < rounds; round += 1) {
        const { id } = await createBook(context);
        const answers = await workInParallel(Array(10).keys(), 10, () =>
          context.call('DELETE', `/book/${id}`),
        );
        const statuses = answers.map(({ status }) => status).sort();
        expectEqual('the statuses', statuses, [200, ...Array(9).fill(404)]);
        for (const answer of answers) {
          expectAnswer(answer, answer.status === 200 ? outcomes.bookDeleted : outcomes.bookNotFound);
        }
        await expectMissing(context, id);
      }
    },
  },
  {
    name: 'Updates at the same time as the deletion of their book never bring it back',
    reference: 'specification 3.6, 9.1',
    run: async (context) => {
      for (let round = 0; round < rounds; round += 1) {
        const book = await createBook(context);
        const path = `/book/${book.id}`;
        const methods = ['PUT', 'PUT', 'PUT', 'DELETE', 'PUT', 'PUT', 'PUT'];
        const answers = await workInParallel(methods, methods.length, (method) =>
          context.call(method, path, method === 'PUT' ? { title: 'late', year: round } : undefined),
        );
        for (const answer of answers) {
          if (answer.request.method === 'DELETE') {
            expectAnswer(answer, outcomes.bookDeleted);
          } else if (answer.status === 200) {
            expectAnswer(answer, outcomes.bookUpdated, { ...book, title: 'late', year: round });
          } else {
            expectAnswer(answer, outcomes.bookNotFound);
          }
        }
        await expectMissing(context, book.id);
        expectEqual('the book in the list', pickBooks(await listBooks(context), [book]), []);
      }
    },
  },
  {
    name: 'A list taken while books come and go holds every book that stays',
    reference: 'specification 7.2, 3.7',
    run: async (context) => {
      const staying = await workInParallel(Array(20).keys(), 10, (year) => createBook(context, { year }));
      staying.sort((a, b) => a.id - b.id);
      let listing = true;
      const churn = async () => {
        while (listing) {
          const { id } = await createBook(context);
          expectOutcome(await context.call('DELETE', `/book/${id}`), outcomes.bookDeleted);
        }
      };
      const list = async () => {
        try {
          for (let round = 0; round < rounds; round += 1) {
            expectEqual('books that stay', pickBooks(await listBooks(context), staying), staying);
          }
        } finally {
          listing = false;
        }
      };
      await workInParallel([churn, churn, churn, list], 4, (work) => work());
    },
  },
  {
    name: 'A book that is read while it is updated is either the old one or the new one',
    reference: 'specification 9.5',
    run: async (context) => {
      const { id } = await createBook(context, { title: '0', author: '0', year: 0 });
      const path = `/book/${id}`;
      const update = async (year: number) =>
        context.call('PUT', path, { title: String(year), author: String(year), year });
      const answers = await workInParallel(Array(60).keys(), 6, (turn) =>
        turn % 2 === 0 ? update(turn) : context.call('GET', path),
      );
      for (const answer of answers) {
        const outcome = answer.request.method === 'PUT' ? outcomes.bookUpdated : outcomes.bookRetrieved;
        const book = expectOutcome(answer, outcome) as { title: string; author: string; year: number };
        const alike = book.title === String(book.year) && book.author === String(book.year);
        expectTrue('the book', alike, 'title, author and year of one update', book);
      }
    },
  },
]);
