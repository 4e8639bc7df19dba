import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from '../case.ts';
import { type Book, type Catalog, expectBooks, pickBooks } from '../catalog.ts';
import { decodeBody } from '../decode-body.ts';
import { expectFailure } from '../expect.ts';
import { outcomes } from '../outcomes.ts';

/** Enough of a list for its first book. */
const largestBookBytes = 500 * 1024;

const malformed = ['', '-1', '1.5', '1.0', '1e2', '01', '%2B1', '%201', '0x10', 'abc', 'null'];
const invalidQueries = [
  ...[...malformed, '0', '1001'].map((limit) => `limit=${limit}`),
  ...[...malformed, '9007199254740992'].map((after) => `limit=1&after=${after}`),
  'limit=1001&after=1',
  'after=-1',
];

/** Values of Accept-Encoding. */
const codings = [undefined, 'gzip', 'br', 'zstd', 'gzip, deflate, br', 'x-unknown', 'gzip;q=0', '*', '*;q=0'];

/** GET /books: all books in order, pages of them, and their content coding (RFC 9110 section 12.5.3). Books of others may come and go. */
export default function addCases(test: Test): void {
  test('7.1', 'The list holds books of 2 MB, more than a page of the database', async (catalog) => {
    const title = 'x'.repeat(380 * 1024);
    await catalog.expectInList(await catalog.createBooks(6, { title }));
  });

  test('7.7', 'No cache keeps a list or a page', async (catalog) => {
    for (const path of [catalog.listPath, '/books?limit=1']) {
      const { headers } = await catalog.call('GET', path);
      assert.equal(headers['cache-control'], 'no-store', `Cache-Control of ${path}`);
    }
  });

  test('7.1, 3.7', 'A book is in the list from its creation to its deletion', async (catalog) => {
    const kept = await catalog.createBook();
    for (let year = 0; year < 3; year += 1) {
      const book = await catalog.createBook();
      await catalog.expectInList([kept, book]);
      await catalog.expectInList([kept, await catalog.updateBook(book, { title: 'changed', year })]);
      await catalog.deleteBook(book.id);
      assert.deepEqual(pickBooks(await catalog.listBooks(), [kept, book]), [kept], 'after the deletion');
    }
  });

  for (const limit of [1, 3, 7]) {
    test('7.3, 7.4', `Pages of ${limit}, followed by their links, hold every book once`, async (catalog) => {
      const books = await catalog.createBooks(7);
      const [first = 0, last = 0] = [books[0]?.id, books.at(-1)?.id];
      const seen: Book[] = [];
      // Before the first id of all there is none to go on from.
      let path: string | undefined = `/books?x=1&limit=${limit}${first === 1 ? '' : `&after=${first - 1}`}`;
      while (path !== undefined && (seen.at(-1)?.id ?? 0) < last) {
        const page = await getPage(catalog, path);
        const { length } = page.books;
        const isFull = page.next === undefined ? length <= limit : length === limit;
        assert.ok(isFull, `a page of ${path} has ${limit} books, fewer only at the end, got ${length}`);
        const previous = seen.at(-1)?.id ?? 0;
        const isNext = page.books.every(({ id }) => id > previous);
        assert.ok(isNext, `the ids of ${path} are above ${previous}, got ${JSON.stringify(page.books)}`);
        seen.push(...page.books);
        const link = page.next && `/books?limit=${limit}&after=${seen.at(-1)?.id}`;
        assert.equal(page.next, link, 'limit and after in the link');
        path = page.next;
      }
      assert.deepEqual(pickBooks(seen, books), books, 'own books on the pages');
    });
  }

  test(
    '7.3, 7.5, 7.6',
    'A list and a page start after the given id, whether that book exists or not',
    async (catalog) => {
      const books = await catalog.createBooks(3);
      const [first, second, third] = books as [Book, Book, Book];
      const expectAfter = async ({ id }: Book, expected: readonly Book[]) => {
        const list = await getPage(catalog, `/books?page=9&after=${id}&Limit=1`);
        assert.deepEqual(pickBooks(list.books, books), expected, `own books of the list after ${id}`);
        assert.equal(list.next, undefined, 'the link of the list');
        const page = await getPage(catalog, `/books?limit=1000&after=${id}`);
        assert.deepEqual(pickBooks(page.books, books), expected, `own books of the page after ${id}`);
        const ids = [...list.books, ...page.books].map((book) => book.id);
        assert.ok(Math.min(...ids, Infinity) > id, `the ids are above ${id}, got ${ids}`);
      };
      await expectAfter(first, [second, third]);
      await expectAfter(third, []);
      await catalog.deleteBook(second.id);
      await expectAfter(second, [third]);
      for (const query of ['', 'limit=1&']) {
        const list = await getPage(catalog, `/books?${query}after=${Number.MAX_SAFE_INTEGER}`);
        assert.deepEqual(list, { books: [], next: undefined }, 'the list after the last possible id');
      }
    },
  );

  test('7.4', 'A page has a link when more books follow, and only then', async (catalog) => {
    const [first] = await catalog.createBooks(3);
    const { next } = await getPage(catalog, `/books?limit=1&after=${first?.id}`);
    assert.notEqual(next, undefined, 'a page that the third book follows has a link');
    await eventually(async () => {
      const rest = await getPage(catalog, `/books?limit=1000&after=${first?.id}`);
      assert.deepEqual(rest.next, undefined, 'the link of the page with all that follow');
      const full = await getPage(catalog, `/books?limit=${rest.books.length}&after=${first?.id}`);
      assert.deepEqual(full.next, undefined, `the link of a full page of ${rest.books.length}`);
    });
  });

  for (const query of ['', 'after=0', 'Limit=1&page=2&offset=5']) {
    test('7.1, 7.3, 7.5, 7.6', `The list of "?${query}" has the first book and no link`, async (catalog) => {
      await catalog.createBook();
      const headers = { Authorization: await catalog.session.token() };
      const request = { method: 'GET', path: `/books?${query}`, headers, maxResponseBytes: largestBookBytes };
      await eventually(async () => {
        const [first] = (await getPage(catalog, '/books?limit=1')).books;
        const { status, headers: received, body } = await catalog.send(request);
        assert.deepEqual([status, received['content-type']], [200, 'application/json'], 'status and type');
        assert.equal(received.link, undefined, 'the link');
        assert.match(body.toString(), /^{.{0,60}"Books retrieved successfully"/, 'the first bytes');
        assert.equal(/"id"\s*:\s*(\d+)/.exec(body.toString())?.[1], `${first?.id}`, 'the first id');
      });
    });
  }

  for (const accepted of codings) {
    test('1.7', `Accept-Encoding: ${accepted} allows the coding of a list of any size`, async (catalog) => {
      const headers = { Accept: '*/*', ...(accepted !== undefined && { 'Accept-Encoding': accepted }) };
      const readList = async (path: string) => {
        const response = await catalog.call('GET', path, undefined, headers);
        const coding = response.headers['content-encoding'] ?? 'identity';
        const allowed = ['identity', ...(accepted?.split(', ') ?? [])];
        assert.ok(allowed.includes(coding), `Content-Encoding is ${allowed.join(' or ')}, got ${coding}`);
        return expectBooks({ ...response, body: decodeBody(response.body, coding) });
      };
      const books = [await catalog.createBook({ title: 'é'.repeat(10_000) }), await catalog.createBook()];
      assert.deepEqual(pickBooks(await readList(catalog.listPath), books), books, 'own books in the list');
      assert.equal((await readList('/books?limit=1')).length, 1, 'books of a page of one');
      const last = Number.MAX_SAFE_INTEGER;
      assert.deepEqual(await readList(`/books?limit=1&after=${last}`), [], 'books of an empty page');
    });
  }

  test('7.6', 'Of several parameters with one name, the last one counts', async (catalog) => {
    await catalog.createBooks(2);
    const { books } = await getPage(catalog, '/books?limit=0&limit=2&limit=1');
    assert.equal(books.length, 1, 'books of the page');
    expectFailure(await catalog.call('GET', '/books?limit=1&limit=0'), outcomes.invalidInput);
  });

  for (const query of invalidQueries) {
    test('7.6', `The query ${query} is invalid input`, async (catalog) =>
      expectFailure(await catalog.call('GET', `/books?${query}`), outcomes.invalidInput),
    );
  }
}

/**
 * @returns the books of a page, and path and query of the next one, below the base URL. The link is a query alone, so
 * that it holds behind a proxy that adds or strips a prefix.
 */
async function getPage(
  catalog: Catalog,
  path: string,
): Promise<{ readonly books: readonly Book[]; readonly next: string | undefined }> {
  const response = await catalog.call('GET', path);
  const books = expectBooks(response);
  const { link } = response.headers;
  if (link === undefined) return { books, next: undefined };
  const query = /^<(\?[^>]*)>\s*;\s*rel="?next"?$/.exec(String(link))?.[1];
  assert.ok(query, `the header Link is <?...>; rel="next", relative to the page, got ${link}`);
  return { books, next: `/books${query}` };
}

/** Longer than other cases or clients change the catalog without a pause. */
const timeoutMs = 20_000;

/** Repeats a check that others can make false between two looks at the catalog. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let pauseMs = 10; ; pauseMs *= 1.5) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() + pauseMs > deadline) throw error;
    }
    await sleep(pauseMs);
  }
}
