import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { aBook, allows, fieldSchemas, type Value } from '../a-book.ts';
import type { Test } from '../case.ts';
import { type Book, type Catalog, expectBooks, pickBooks } from '../catalog.ts';
import { decodeBody } from '../decode-body.ts';
import { expectFailure } from '../expect.ts';
import { makeEdgeValues } from '../field-values.ts';
import { outcomes } from '../outcomes.ts';
import { alike, different, found } from '../searches.ts';

/** Enough of a list for its first book. */
const largestBookBytes = 500 * 1024;

const malformed = ['', '-1', '1.5', '1.0', '1e2', '01', '%2B1', '%201', '0x10', 'abc', 'null'];
const invalidQueries = [
  ...[...malformed, '0', '1001'].map((limit) => `limit=${limit}`),
  ...[...malformed, '9007199254740992'].map((after) => `limit=1&after=${after}`),
  'limit=1001&after=1',
  'after=-1',
];

/** Filters that are refused, by the kind of their field. */
const wrongFilters: Readonly<Record<string, readonly string[]>> = {
  integer: ['-0', '1.5', '1.0', '1e2', '01', '-01', '%2B1', '%201', '0x10', 'abc', '9007199254740992'],
  boolean: ['1', 'TRUE', 'yes', 'false%20'],
};

/** A text that makes a list of more than one chunk. */
const long = 'é'.repeat(10_000);

/** Books of which some are more than a page of the database. */
const large = { values: { title: 'x'.repeat(380 * 1024) } };

/** Values of Accept-Encoding. */
const codings = [undefined, 'gzip', 'br', 'gzip, deflate, br, zstd', 'x-unknown', 'gzip;q=0', '*', '*;q=0'];

/** GET /books: all books, pages, filters and content codings. Others may create and delete books meanwhile. */
export default function addCases(test: Test): void {
  test('7.1, 7.3, 7.9', 'A list, a page and a search have more than a hundred books', async (catalog) => {
    const author = randomUUID();
    const books = await catalog.createBooks(101, { author });
    await catalog.expectInList(books);
    await catalog.expectListed(author, books);
    const { books: page } = await getPage(catalog, `/books?limit=1000&author=${author}`);
    assert.deepEqual(page, books, 'the page');
  });

  test('7.7', 'No cache keeps a list or a page', async (catalog) => {
    const { id } = await catalog.findSharedBook();
    for (const path of [`/books?after=${id - 1}`, '/books?limit=1']) {
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
      assert.deepEqual(pickBooks(await catalog.listFrom(kept.id), [kept, book]), [kept], 'after the deletion');
    }
  });

  for (const limit of [1, 3, 5]) {
    test('7.3, 7.4', `Pages of ${limit}, followed by their links, hold every book once`, async (catalog) => {
      const books = await catalog.createBooks(5);
      const [first = 0, last = 0] = [books[0]?.id, books.at(-1)?.id];
      const listed: Book[] = [];
      // When the first id of all is one of them, the list begins there by itself.
      let path: string | undefined = `/books?x=1&limit=${limit}${first === 1 ? '' : `&after=${first - 1}`}`;
      while (path !== undefined && (listed.at(-1)?.id ?? 0) < last) {
        const page = await getPage(catalog, path);
        assert.ok(page.books.length <= limit, `a page of ${path} has at most ${limit} books`);
        const previous = listed.at(-1)?.id ?? 0;
        const isNext = page.books.every(({ id }) => id > previous);
        assert.ok(isNext, `the ids of ${path} are above ${previous}, got ${JSON.stringify(page.books)}`);
        listed.push(...page.books);
        const link = page.next && `/books?limit=${limit}&after=${listed.at(-1)?.id}`;
        assert.equal(page.next, link, 'limit and after in the link');
        path = page.next;
      }
      assert.deepEqual(pickBooks(listed, books), books, 'own books on the pages');
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
      await catalog.findSharedBook();
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

  test(
    '7.1, 7.3, 7.4, 7.9',
    'Large books end a page early, and no list or search misses one',
    large,
    async (catalog) => {
      const end = randomUUID();
      const books = await catalog.createBooks(9, { title: `${large.values.title} ${end}` });
      await catalog.expectInList(books);
      const pages = await getPages(catalog, `/books?limit=1000&after=${(books[0]?.id ?? 1) - 1}&title=${end}`);
      assert.deepEqual(pages.flat(), books, 'own books on the pages');
      for (const page of pages) {
        assert.ok(JSON.stringify(page).length <= 3 * 2 ** 20, 'a page has at most 3 MB of JSON');
      }
    },
  );

  for (const [difference, pairs] of Object.entries(alike)) {
    test('7.9', `Texts find each other whatever the difference: ${difference}`, async (catalog) => {
      const book = await catalog.createBook();
      for (const [title, author] of pairs) {
        const changed = await catalog.updateBook(book, { title, author });
        const byAuthor = [title, title.toUpperCase()].map((sought) => ({ author: sought }));
        const byTitle = [author, author.toUpperCase()].map((sought) => ({ title: sought }));
        await Promise.all([...byAuthor, ...byTitle].map((filters) => expectFound(catalog, changed, filters)));
      }
    });
  }

  for (const [finds, isFound, rows] of [
    ['finds', true, found],
    ['does not find', false, different],
  ] as const) {
    test('7.9', `What people type ${finds} the title`, async (catalog) => {
      const book = await catalog.createBook();
      for (const [title, ...typed] of rows) {
        const changed = await catalog.updateBook(book, { title });
        await Promise.all(typed.map((sought) => expectFound(catalog, changed, { title: sought }, isFound)));
      }
    });
  }

  test('7.9', 'A book with a pile of marks, slow to sort for Unicode, delays no search', large, async (catalog) => {
    const author = randomUUID();
    const title = `Zalgo${'\u0315'.repeat(99_000)}${'\u0316'.repeat(99_000)}`;
    const book = await catalog.createBook({ title, author });
    const startedAt = performance.now();
    const found = await findBooks(catalog, { title: 'zalgo', author });
    const seconds = (performance.now() - startedAt) / 1000;
    assert.deepEqual(found, [book], 'the book with the pile');
    assert.ok(seconds < 10, `a search takes some milliseconds, and not ${seconds} s`);
  });

  test('7.4, 7.9', 'q=WORDS finds the books that have each word in one of their texts', async (catalog) => {
    const mark = randomUUID();
    const [dune, herbert, other] = [
      await catalog.createBook({ title: `Dune ${mark}`, author: 'Herbert, Frank', year: 1965 }),
      await catalog.createBook({ title: `Frank Herbert: ${mark}`, year: 1982 }),
      await catalog.createBook({ title: `Dune ${mark}`, author: 'Frank Miller', year: 1965 }),
    ];
    const find = (q: string, filters = {}) => findBooks(catalog, { q: `${q} ${mark}`, ...filters });
    assert.deepEqual(await find('frank HERBERT'), [dune, herbert], 'the books of frank herbert');
    assert.deepEqual(await find('frank dune'), [dune, other], 'the books of frank dune');
    assert.deepEqual(await find(''), [dune, herbert, other], 'the books of the mark alone');
    assert.deepEqual(await find('frank asimov'), [], 'the books of frank asimov');
    assert.deepEqual(await find('1965'), [], 'books by a number');
    assert.deepEqual(await find(`${mark.slice(-4)}Herbert`), [], 'a word that begins in one text and ends in another');
    assert.deepEqual(await find(`${'frank '.repeat(12)}asimov`), [], 'the books of many words');
    const changed = await catalog.updateBook(await catalog.createBook({ title: mark }), { author: 'Frank Asimov' });
    assert.deepEqual(await find('frank asimov'), [changed], 'the book of asimov after an update');
    await catalog.deleteBook(changed.id);
    assert.deepEqual(await find('frank asimov'), [], 'the book of asimov after its deletion');
    assert.deepEqual(await find('frank', { author: 'frank', year: 1965 }), [dune, other], 'the books of three filters');
    const pages = await getPages(catalog, `/books?limit=1&q=frank%20${mark}`);
    assert.deepEqual(pages, [[dune], [herbert], [other]], 'the pages');
    const filtered = await getPages(catalog, `/books?limit=1&q=${mark}&title=dune&author=frank&year=1965`);
    assert.deepEqual(filtered, [[dune], [other]], 'the pages of four filters');
    const { id } = dune;
    const withoutWord = await getPage(catalog, `/books?q=%22%20&after=${id}`);
    assert.deepEqual(pickBooks(withoutWord.books, [dune, herbert, other]), [herbert, other], 'the books of no word');
  });

  for (const [name, schema] of fieldSchemas) {
    test('7.9', `A filter of ${name} finds books by that field, also after an update`, async (catalog) => {
      const [value = '', other = ''] = makeEdgeValues(schema).within.map(shorten);
      const marked = name === 'title' ? 'author' : 'title';
      const mark = randomUUID();
      const find = (sought: Value) => findBooks(catalog, { [marked]: mark, [name]: sought });
      const book = await catalog.createBook({ ...aBook(), [marked]: mark, [name]: value });
      const older = await catalog.createBook({ ...aBook(), [marked]: mark });
      const isDefault = schema.default === value;
      assert.deepEqual(await find(value), isDefault ? [book, older] : [book], `books of ${value}`);
      const changed = await catalog.updateBook(book, { [name]: other });
      assert.deepEqual(pickBooks(await find(other), [book]), [changed], `books of ${other}`);
      const isBoth = typeof other === 'string' && other.includes(String(value));
      assert.deepEqual(pickBooks(await find(value), [book]), isBoth ? [changed] : [], `books of ${value} that changed`);
      await catalog.deleteBook(book.id);
      assert.deepEqual(pickBooks(await find(other), [book]), [], 'books that were deleted');
    });

    for (const text of wrongFilters[schema.type] ?? []) {
      test('7.10', `The filter ${name}=${text} is invalid input`, async (catalog) => {
        expectFailure(await catalog.call('GET', `/books?${name}=${text}`), outcomes.invalidInput);
        expectFailure(await catalog.call('GET', `/books?limit=1&${name}=${text}`), outcomes.invalidInput);
      });
    }
  }

  test('7.10', 'An empty filter is none', async (catalog) => {
    const book = await catalog.createBook({ author: randomUUID() });
    const none = Object.fromEntries(['q', ...fieldSchemas.map(([name]) => name)].map((name) => [name, '']));
    const books = await findBooks(catalog, { ...none, author: book.author });
    assert.deepEqual(books, [book], 'the books found');
  });

  test('7.9, 7.10', 'A filter beyond the limits of a field is not an error', async (catalog) => {
    const filters = { title: 'x'.repeat(2_000), year: Number.MIN_SAFE_INTEGER, author: randomUUID() };
    assert.deepEqual(await findBooks(catalog, filters), [], 'the books found');
  });

  test(
    '7.3, 7.4, 7.9',
    'Pages with a filter, followed by their links, hold every book that matches once',
    async (catalog) => {
      const author = `Ångström & "Söhne" + ${randomUUID()}`;
      const books = await catalog.createBooks(5, { author });
      const others = await catalog.createBooks(2);
      for (const limit of [1, 2, 5]) {
        const path = `/books?author=${encodeURIComponent(author.toLowerCase())}&limit=${limit}`;
        const pages = await getPages(catalog, path);
        assert.deepEqual(pages.flat(), books, `the books of ${path}`);
        const lengths = Array.from({ length: Math.ceil(5 / limit) }, (_, page) => Math.min(limit, 5 - page * limit));
        assert.deepEqual(
          pages.map(({ length }) => length),
          lengths,
          `the lengths of the pages of ${path}`,
        );
      }
      await catalog.expectInList(others);
    },
  );

  test('7.6, 7.9', 'The names of filters are case-sensitive', async (catalog) => {
    const book = await catalog.createBook({ author: randomUUID() });
    const { books } = await getPage(catalog, `/books?Author=none&author=${book.author}&authors=none`);
    assert.deepEqual(books, [book], 'the books found');
  });

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
      const shared = await catalog.findSharedBook();
      const books = [shared, await catalog.createBook(allows({ title: long }) ? { title: long } : {})];
      const list = await readList(`/books?after=${shared.id - 1}`);
      assert.deepEqual(pickBooks(list, books), books, 'own books in the list');
      assert.equal((await readList('/books?limit=1')).length, 1, 'books of a page of one');
      const last = Number.MAX_SAFE_INTEGER;
      assert.deepEqual(await readList(`/books?limit=1&after=${last}`), [], 'books of an empty page');
    });
  }

  test('7.6', 'Of several parameters with one name, the last one counts', async (catalog) => {
    const author = randomUUID();
    const own = await catalog.createBooks(2, { author });
    const { books } = await getPage(catalog, '/books?limit=0&limit=2&limit=1');
    assert.equal(books.length, 1, 'books of the page');
    const { books: found } = await getPage(catalog, `/books?author=${author}&year=0&year=1`);
    const expected = own.filter(({ year }) => year === 1);
    assert.deepEqual(found, expected, 'the books found');
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
  const [asked, linked] = [path, query].map((text) => new URLSearchParams(text.replace(/^[^?]*/, '')));
  for (const name of ['limit', 'q', ...fieldSchemas.map(([field]) => field)]) {
    assert.equal(linked?.get(name), asked?.getAll(name).at(-1) || null, `${name} in the link of ${path}`);
  }
  return { books, next: `/books${query}` };
}

/** Follows the links of a page. @returns the books of each page */
async function getPages(catalog: Catalog, path: string): Promise<readonly (readonly Book[])[]> {
  const pages: (readonly Book[])[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: Awaited<ReturnType<typeof getPage>> = await getPage(catalog, next);
    pages.push(page.books);
    next = page.next;
  }
  return pages;
}

/** @returns the books of a list with these filters */
async function findBooks(catalog: Catalog, filters: Readonly<Record<string, Value>>): Promise<readonly Book[]> {
  const query = Object.entries(filters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return (await getPage(catalog, `/books?${query.join('&')}`)).books;
}

/** Checks whether a book is the first one from its id on that matches, which takes less time than all that match. */
async function expectFound(catalog: Catalog, book: Book, filters: Readonly<Record<string, Value>>, isFound = true) {
  const [first] = await findBooks(catalog, { limit: 1, after: book.id - 1, ...filters });
  assert.equal(first?.id === book.id, isFound, `${JSON.stringify(filters)} finds ${JSON.stringify(book)}`);
}

/** Cuts a text to a length that fits into a URL. */
function shorten(value: Value): Value {
  return typeof value === 'string' ? [...value].slice(0, 50).join('') : value;
}

/** Other cases and clients pause within this time. */
const timeoutMs = 20_000;

/** Repeats a check that fails when others change the catalog meanwhile. */
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
