import { createBook, deleteBook, expectBooks, listBooks, pickBooks } from '../book-steps.ts';
import { defineCases } from '../case.ts';
import { expectEqual, expectTrue } from '../expectation.ts';
import { workInParallel } from '../in-parallel.ts';

const rules = 'specification 7.1';

/** GET /books: all books, in order. What others add or delete meanwhile does not matter. */
export const listBooksCases = defineCases('list-books', [
  {
    name: 'The list is ascending by id and holds each of 120 books once',
    reference: rules,
    run: async (context) => {
      const books = await workInParallel(Array(120).keys(), 16, (year) => createBook(context, { year }));
      books.sort((a, b) => a.id - b.id);
      expectEqual('own books in the list', pickBooks(await listBooks(context), books), books);
    },
  },
  {
    name: 'The list holds books that are 2 MB together, more than a page of the database',
    reference: rules,
    run: async (context) => {
      const title = 'x'.repeat(380 * 1024);
      const books = await workInParallel(Array(6).keys(), 3, (year) => createBook(context, { title, year }));
      books.sort((a, b) => a.id - b.id);
      const listed = pickBooks(await listBooks(context), books);
      expectEqual(
        'ids and years of own books in the list',
        listed.map(({ id, year }) => ({ id, year })),
        books.map(({ id, year }) => ({ id, year })),
      );
      expectEqual(
        'whether their titles are whole',
        listed.map((book) => book.title === title),
        books.map(() => true),
      );
    },
  },
  {
    name: 'A book is in the list as soon as it is created, changes with it, and is gone once deleted',
    reference: `${rules}, 3.7`,
    run: async (context) => {
      const kept = await createBook(context);
      for (let round = 0; round < 3; round += 1) {
        const book = await createBook(context);
        expectEqual('after creation', pickBooks(await listBooks(context), [kept, book]), [kept, book]);
        await context.call('PUT', `/book/${book.id}`, { title: 'changed', year: round });
        const changed = { ...book, title: 'changed', year: round };
        expectEqual('after the update', pickBooks(await listBooks(context), [kept, book]), [kept, changed]);
        await deleteBook(context, book.id);
        expectEqual('after deletion', pickBooks(await listBooks(context), [kept, book]), [kept]);
      }
    },
  },
  {
    name: 'Unknown parameters in the query of the list are ignored',
    reference: 'specification 7.6',
    readsWholeList: true,
    run: async (context) => {
      const books = [await createBook(context), await createBook(context)];
      for (const query of ['?x=1', '?title=nothing&page=2&per_page=1&offset=5', '?Limit=1', '?']) {
        const listed = expectBooks(await context.call('GET', `/books${query}`));
        expectEqual(`own books with ${query}`, pickBooks(listed, books), books);
      }
    },
  },
  {
    name: 'The list of all books begins in the envelope',
    reference: rules,
    run: async (context) => {
      await createBook(context);
      const answer = await context.send({
        method: 'GET',
        path: '/books',
        headers: { Authorization: await context.token() },
        maxResponseBytes: 100,
      });
      expectEqual('the status', answer.status, 200);
      expectEqual('Content-Type', answer.headers['content-type'], 'application/json');
      const start = answer.body.subarray(0, 100).toString();
      const whole = start.startsWith('{') && start.includes('"Books retrieved successfully"');
      expectTrue('the first bytes', whole, 'those of the envelope', start);
    },
  },
]);
