import { type Book, createBook, deleteBook, expectBooks, listBooks, pickBooks } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import type { ConformanceContext } from '../context.ts';
import { expectAnswer } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { ExpectationError, expectEqual, expectTrue } from '../expectation.ts';
import { outcomes } from '../outcomes.ts';

const pageRule = 'specification 7.3';
const linkRule = 'specification 7.4';
const malformedRule = 'specification 7.6';

/** No id comes after it. */
const lastPossibleId = Number.MAX_SAFE_INTEGER;

interface Page {
  readonly books: readonly Book[];
  /** Path and query of the next page, below the base URL. */
  readonly next: string | undefined;
}

const malformedLimits = [
  '',
  '0',
  '-1',
  '1001',
  '1.5',
  '1.0',
  '1e2',
  '01',
  '%2B1',
  '%201',
  '0x10',
  'abc',
  'null',
];
const malformedAfters = [
  '',
  '-1',
  '1.5',
  '1.0',
  '1e3',
  '01',
  '%2B1',
  '%201',
  '0x10',
  'abc',
  '9007199254740992',
];

/** Pages of GET /books. Other books may lie between and after those of a case. */
export const pagingCases = defineCases('paging', [
  ...[1, 2, 3, 7].map(
    (limit): CaseDefinition => ({
      name: `Pages of ${limit}, followed by their links, hold every book once and in order`,
      reference: 'specification 7.3, 7.4',
      run: async (context) => {
        const books = await createBooks(context, 7);
        const last = books.at(-1)?.id ?? 0;
        const seen: Book[] = [];
        // Before the first id of all there is none to go on from.
        const start = firstId(books) === 1 ? '' : `&after=${firstId(books) - 1}`;
        let path: string | undefined = `/books?limit=${limit}${start}`;
        while (path !== undefined && (seen.at(-1)?.id ?? 0) < last) {
          const { books: page, next }: Page = await getPage(context, path);
          expectTrue('the books of a page', page.length <= limit, `${limit} at most`, page.length);
          if (next !== undefined) expectEqual('books of a page with a link', page.length, limit);
          const previous = seen.at(-1)?.id ?? 0;
          expectTrue(
            'ids of the page',
            page.every(({ id }) => id > previous),
            `above ${previous}`,
            page,
          );
          seen.push(...page);
          path = next;
        }
        expectEqual('own books on the pages', pickBooks(seen, books), books);
      },
    }),
  ),
  {
    name: 'A page starts right after the id that is given, whether that book exists or not',
    reference: pageRule,
    run: async (context) => {
      const [first, second, third] = await createBooks(context, 3);
      if (!first || !second || !third) throw new Error('three books were made');
      const after = async (id: number) =>
        pickBooks((await getPage(context, `/books?limit=1000&after=${id}`)).books, [first, second, third]);
      expectEqual('after the first', await after(first.id), [second, third]);
      expectEqual('after the third', await after(third.id), []);
      await deleteBook(context, second.id);
      expectEqual('after the deleted second', await after(second.id), [third]);
    },
  },
  {
    name: 'A link leads on from the last book of its page with the same limit',
    reference: 'specification 7.4; RFC 8288',
    run: async (context) => {
      const books = await createBooks(context, 4);
      const path = `/books?x=1&limit=2&after=${firstId(books)}`;
      const { books: page, next = '' } = await getPage(context, path);
      const query = new URL(next, 'http://base').searchParams;
      expectEqual('limit in the link', query.get('limit'), '2');
      expectEqual('after in the link', query.get('after'), String(page.at(-1)?.id));
    },
  },
  {
    name: 'A page that ends with the last book has no link',
    reference: linkRule,
    run: async (context) => {
      const books = await createBooks(context, 3);
      await eventually(async () => {
        const rest = await getPage(context, `/books?limit=1000&after=${firstId(books)}`);
        expectEqual('the link of the page with all that follow', rest.next, undefined);
        const path = `/books?limit=${rest.books.length}&after=${firstId(books)}`;
        expectEqual(`the link of ${path}`, (await getPage(context, path)).next, undefined);
      });
    },
  },
  {
    name: 'A page with more books after it has a link',
    reference: linkRule,
    run: async (context) => {
      const books = await createBooks(context, 3);
      const { next } = await getPage(context, `/books?limit=1&after=${firstId(books)}`);
      expectTrue('the link', next !== undefined, 'a link, as the third book follows', next);
    },
  },
  {
    name: 'A page after the last possible id is empty and has no link',
    reference: pageRule,
    run: async (context) => {
      const page = await getPage(context, `/books?limit=1&after=${lastPossibleId}`);
      expectEqual('the page', page, { books: [], next: undefined });
    },
  },
  {
    name: 'A page without after starts with the first of all books',
    reference: pageRule,
    readsWholeList: true,
    run: async (context) => {
      await createBooks(context, 2);
      await eventually(async () => {
        const [first] = await listBooks(context);
        expectEqual('the first page', (await getPage(context, '/books?limit=1')).books, [first]);
      });
    },
  },
  {
    name: 'A page may be 1,000 books long',
    reference: pageRule,
    run: async (context) => {
      const books = await createBooks(context, 2);
      const { books: page } = await getPage(context, `/books?limit=1000&after=${firstId(books)}`);
      expectEqual('own books after the first', pickBooks(page, books), books.slice(1));
    },
  },
  {
    name: 'Without limit the list holds all books and has no link, whatever after is',
    reference: 'specification 7.5',
    readsWholeList: true,
    run: async (context) => {
      const books = await createBooks(context, 2);
      for (const path of ['/books', `/books?after=${books.at(-1)?.id}`]) {
        const page = await getPage(context, path);
        expectEqual(`own books with ${path}`, pickBooks(page.books, books), books);
        expectEqual(`the link with ${path}`, page.next, undefined);
      }
    },
  },
  {
    name: 'Unknown parameters beside limit and after are ignored',
    reference: malformedRule,
    run: async (context) => {
      const books = await createBooks(context, 3);
      const path = `/books?page=9&limit=1000&after=${firstId(books)}&title=nothing&Limit=1`;
      expectEqual('own books', pickBooks((await getPage(context, path)).books, books), books.slice(1));
    },
  },
  ...malformedLimits.map(
    (limit): CaseDefinition => ({
      name: `The limit ${JSON.stringify(limit)} is invalid input`,
      reference: malformedRule,
      run: async (context) => {
        for (const path of [`/books?limit=${limit}`, `/books?limit=${limit}&after=1`]) {
          expectAnswer(await context.call('GET', path), outcomes.invalidInput);
        }
      },
    }),
  ),
  ...malformedAfters.map(
    (after): CaseDefinition => ({
      name: `The after ${JSON.stringify(after)} is invalid input`,
      reference: malformedRule,
      run: async (context) => {
        expectAnswer(await context.call('GET', `/books?limit=1&after=${after}`), outcomes.invalidInput);
      },
    }),
  ),
  {
    name: 'A missing token comes before a malformed limit',
    reference: 'specification 4.2',
    run: async (context) => {
      const answer = await context.send({ method: 'GET', path: '/books?limit=0' });
      expectAnswer(answer, outcomes.tokenRequired);
    },
  },
]);

async function createBooks(context: ConformanceContext, count: number): Promise<readonly Book[]> {
  const books: Book[] = [];
  for (let year = 0; year < count; year += 1) books.push(await createBook(context, { year }));
  return books;
}

function firstId(books: readonly Book[]): number {
  return books[0]?.id ?? 0;
}

async function getPage(context: ConformanceContext, path: string): Promise<Page> {
  const answer = await context.call('GET', path);
  const books = expectBooks(answer);
  const { link } = answer.headers;
  if (link === undefined) return { books, next: undefined };
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(String(link))?.[1];
  if (target === undefined) throw new ExpectationError('the header Link', '<...>; rel="next"', link);
  const here = context.resolve(path);
  const there = new URL(target, here);
  expectEqual('the path of the link', there.pathname, here.pathname);
  return { books, next: `/books${there.search}` };
}
