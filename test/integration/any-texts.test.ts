import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Engine, provideEngine } from '../simulators/engine.ts';
import { anyText, fragments, fragmentText } from '../support/any-text.ts';
import { type BookTable, createBookTable, seedBooks, setCounter } from '../support/book-table.ts';
import { forgeToken } from '../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

const headers = { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) };

/** So many books that their list takes several pages of any size, in two shards. */
const manyBooks = 10_040;

let engine: Engine;
let table: BookTable;
let call: Call;

beforeAll(async () => {
  engine = await provideEngine();
});

afterAll(async () => {
  await engine.stop();
});

beforeEach(async () => {
  table = await createBookTable(engine.endpoint);
  call = await loadHandlers(table.url, ['GET /books', 'GET /book/{id}', 'POST /book', 'PUT /book/{id}']);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

async function listBooks(queryStringParameters: Record<string, string> | null = null) {
  const requestContext = { path: '/books' } as never;
  const { status, envelope } = await call('GET', '/books', {
    headers,
    queryStringParameters,
    requestContext,
  });
  expect(status).toBe(200);
  return envelope.data;
}

test.each(['title', 'author'])(
  'a %s that looks like the border of two items breaks the list nowhere, the ends of pages included',
  async (field) => {
    const plain = { title: 'x', author: 'y', year: 1 };
    // The ids on both sides of the borders between pages of 2,500 and between shards, and the last one.
    const hostile = new Set([1, 2_499, 2_500, 2_501, 4_999, 9_999, 10_000, 12_499, 12_500, 12_501]);
    const fieldsOf = (id: number) => ({ ...plain, ...(hostile.has(id) && { [field]: '"}},{' }) });
    await seedBooks(table, 12_501, fieldsOf);

    const listed = await listBooks();

    expect(listed).toEqual(
      Array.from({ length: 12_501 }, (_, index) => ({ id: index + 1, ...fieldsOf(index + 1) })),
    );
  },
);

test('texts of fragments of every syntax come back exactly, in every position of every page', async () => {
  const fields = fc.record({ title: fragmentText, author: anyText, year: fc.maxSafeInteger() });
  const samples = fc.sample(fields, manyBooks).map((sample) => ({ ...sample, year: sample.year + 0 }));
  await seedBooks(table, manyBooks, (id) => samples[id - 1] as (typeof samples)[number]);
  const books = samples.map((sample, index) => ({ id: index + 1, ...sample }));

  expect(await listBooks()).toEqual(books);

  const pages = fc.record({
    after: fc.oneof(fc.nat({ max: manyBooks }), fc.integer({ min: 9_980, max: 10_005 })),
    limit: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 1_000 })),
  });
  await fc.assert(
    fc.asyncProperty(pages, async ({ after, limit }) => {
      const page = await listBooks({ after: String(after), limit: String(limit) });
      expect(page).toEqual(books.slice(after, after + limit));
    }),
    { numRuns: 60 },
  );
});

test('a list ends exactly with a book of any fragment, `}},{` and `"}},{"` among them', async () => {
  await setCounter(table, 9_997);
  const created: unknown[] = [];
  for (const fragment of fragments) {
    const body = JSON.stringify({ title: fragment, author: fragment });
    const { envelope } = await call('POST', '/book', { headers, body });
    created.push(envelope.data);

    expect(envelope.data).toMatchObject({ title: fragment, author: fragment });
    expect(await listBooks(), `the list with a last book of ${JSON.stringify(fragment)}`).toEqual(created);
    const after = String(9_997 + created.length - 1);
    expect(await listBooks({ after, limit: '1' })).toEqual([envelope.data]);
  }
});

test('an update to any text is what the book has, and the list', async () => {
  await call('POST', '/book', { headers, body: '{}' });
  await fc.assert(
    fc.asyncProperty(anyText, fragmentText, async (title, author) => {
      const body = JSON.stringify({ title, author });
      const { envelope } = await call('PUT', '/book/1', { headers, body });

      expect(envelope.data).toEqual({ id: 1, title, author, year: 0 });
      expect((await call('GET', '/book/1', { headers })).envelope.data).toEqual(envelope.data);
      expect(await listBooks()).toEqual([envelope.data]);
    }),
    { numRuns: 150 },
  );
});
