import { expect, onTestFinished, test } from 'vitest';
import {
  type BookCatalogClient,
  BookCatalogError,
  createBookCatalogClient,
} from '../../tools/client/book-catalog-client.ts';
import { type Fate, respond, startFaultyGateway } from '../fakes/faulty-gateway.ts';
import { aBook } from '../support/a-book.ts';
import { defaultCredentials } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService(defaultCredentials);
const credentials = { username: 'admin', password: 'password' };

/** Each method of the client, with the request that a gateway fails. */
const methods: Readonly<Record<string, [string, (client: BookCatalogClient) => Promise<unknown>]>> = {
  'a login': ['POST /token', (client) => client.getBook(1)],
  createBook: ['POST /book', (client) => client.createBook({ title: 'Emma' })],
  getBook: ['GET /book/1', (client) => client.getBook(1)],
  'getBook with an entity tag': ['GET /book/1', (client) => client.getBook(1, { ifNoneMatch: '"a"' })],
  updateBook: ['PUT /book/1', (client) => client.updateBook(1, { year: 1 })],
  deleteBook: ['DELETE /book/1', (client) => client.deleteBook(1)],
  listBooks: ['GET /books?limit=1000&after=0', (client) => Array.fromAsync(client.listBooks())],
};

const ok = (data: unknown) => respond(200, 'OK', {}, data);
const book = { ...aBook(), id: 1 };

/** Responses that the service never sends to a request, and the methods to which they say nothing wrong. */
const faults: readonly [string, Fate, (readonly string[])?][] = [
  ...[301, 302, 303, 307, 308].map((status): [string, Fate] => [
    `a ${status}`,
    { status, headers: { Location: '/elsewhere' }, body: '' },
  ]),
  ['a redirect in the envelope', respond(302, 'Found', { Location: '/elsewhere' }, book)],
  ['data of null', ok(null), ['deleteBook']],
  ['data that is a text', ok('abc')],
  ['data that is an empty object', ok({})],
  ['data that is an empty list', ok([]), ['listBooks']],
  ['another book', ok({ ...book, id: 2 }), ['createBook']],
  ['a book without an id', ok(aBook())],
  ['a list of null', ok([null])],
  ['a list in another order', ok([{ ...book, id: 2 }, book])],
  ['a list of one book twice', ok([book, book])],
  ['an empty page with a next one', respond(200, 'OK', { Link: '<?limit=1000&after=9>; rel="next"' }, [])],
  ['no data', { status: 200, body: '{"status":200,"message":"OK"}' }],
  ['another status in the envelope', { status: 200, body: JSON.stringify({ status: 201, message: 'OK', data: book }) }],
  ['a page', { status: 200, body: '<h1>Log in</h1>' }],
  ['a list instead of the envelope', { status: 200, body: JSON.stringify([book]) }],
  ['no content', { status: 204, body: '' }],
  ['an unknown error', { status: 418, body: 'teapot' }],
];

test.each(
  Object.keys(methods).flatMap((method) => faults.map(([name, fate, fine = []]) => ({ method, name, fate, fine }))),
)('$method throws a BookCatalogError at once for $name', async ({ method, fate, fine }) => {
  const [request, call] = methods[method] ?? [];
  if (fine.includes(method)) return;
  const { client, requests } = await openGateway((name) => (name === request ? fate : 'pass'));

  const error = await call?.(client).catch((error: unknown) => error);

  expect(error).toBeInstanceOf(BookCatalogError);
  expect(requests.filter((name) => !['POST /token', request].includes(name))).toEqual([]);
  expect(requests.filter((name) => name === request)).toHaveLength(1);
});

test('the error of a redirect says where to, and a loop of redirects costs one request', async () => {
  const { client, requests, baseUrl } = await openGateway((name) =>
    name === 'POST /token' ? 'pass' : { status: 302, headers: { Location: '/book' }, body: '' },
  );

  const create = client.createBook({});

  const message = `${baseUrl}/book redirects to /book, which the client does not follow`;
  await expect(create).rejects.toMatchObject({ status: 302, message });
  expect(requests).toEqual(['POST /token', 'POST /book']);
});

test('a redirect that a browser hides is an error', async () => {
  const hidden = async () => ({ status: 0, headers: new Headers(), text: async () => '' });
  const client = createBookCatalogClient({ baseUrl: 'http://books.example', ...credentials, fetch: hidden });
  await expect(client.getBook(1)).rejects.toThrow('http://books.example/token redirects to another address');
});

/** A client of a catalog of 2,500 books whose pages have a header `Link`. */
async function openPages(pageLength: number, link: (after: number) => string | undefined) {
  const books = Array.from({ length: 2_500 }, (_, index) => ({ ...aBook(), id: index + 1 }));
  const pages = /^GET \/books\?limit=1000&after=(\d+)$/;
  const { client, requests } = await openGateway((name) => {
    const [, start] = pages.exec(name) ?? [];
    if (start === undefined) return 'pass';
    const after = Number(start);
    const page = books.slice(after, after + pageLength);
    const text = link(after + page.length);
    return respond(200, 'Books retrieved successfully', text === undefined ? {} : { Link: text }, page);
  });
  return { client, books, countPages: () => requests.filter((name) => pages.test(name)).length };
}

const nextOf = (after: number) => `<?limit=1000&after=${after}>; rel="next"`;
const stylesheet = '<https://books.example/x.css>; rel="preload"; title="<?limit=1>"';

test.each<[string, (after: number) => string | undefined]>([
  [
    'the Link of a filter',
    (after) => (after < 2_500 ? nextOf(after).replace('>', '&author=jane%20a%3B%22>') : undefined),
  ],
  ['a Link beside that of a proxy', (after) => (after < 2_500 ? `${stylesheet}, ${nextOf(after)}` : stylesheet)],
])('listBooks ends after the first page without a next one, when earlier pages have %s', async (_name, link) => {
  const { client, books, countPages } = await openPages(400, link);

  expect(await Array.fromAsync(client.listBooks())).toEqual(books);
  expect(countPages()).toBe(7);
});

test.each<[string, () => string | undefined]>([
  ['no Link', () => undefined],
  ['the Link of a proxy', () => stylesheet],
  ['a Link to an earlier page', () => '<?limit=1000&after=0>; rel="prev"'],
])('listBooks reads on after full pages until one is short, when they have %s', async (_name, link) => {
  const { client, books, countPages } = await openPages(1000, link);

  expect(await Array.fromAsync(client.listBooks())).toEqual(books);
  expect(countPages()).toBe(3);
});

test('listBooks sends the filters with each page', async () => {
  const { client, requests } = await openGateway((name) => {
    if (name === 'POST /token') return 'pass';
    return ok(name.includes('after=0') ? [book] : []);
  });

  const filters = { q: 'frank dune', title: 'a&b=c +%', author: 'Brontë', year: 1847 };
  await Array.fromAsync(client.listBooks({ ...filters, pageSize: 1 }));
  const { title = '' } = {} as Partial<typeof filters>;
  await Array.fromAsync(client.listBooks({ title, author: undefined, after: 7, pageSize: undefined }));

  const query = 'q=frank%20dune&title=a%26b%3Dc%20%2B%25&author=Bront%C3%AB&year=1847';
  expect(requests.slice(1)).toEqual([
    `GET /books?limit=1&after=0&${query}`,
    `GET /books?limit=1&after=1&${query}`,
    'GET /books?limit=1000&after=7&title=',
  ]);
});

test('listBooks ends with an error when a page repeats the one before', async () => {
  const { client, requests } = await openGateway((name) =>
    name === 'POST /token' ? 'pass' : respond(200, 'OK', { Link: '<?limit=1&after=1>; rel="next"' }, [book]),
  );
  await expect(Array.fromAsync(client.listBooks({ pageSize: 1 }))).rejects.toThrow('is not of this service');
  expect(requests).toHaveLength(3);
});

test.each([1, 2, 3])('an abort at book %i of a page of three ends the loop there, with its reason', async (last) => {
  const { client } = await openGateway((name) => {
    if (name === 'POST /token') return 'pass';
    return ok(name.endsWith('after=0') ? [1, 2, 3].map((id) => ({ ...aBook(), id })) : []);
  });
  const stop = new AbortController();
  const readIds: number[] = [];
  const read = async () => {
    for await (const { id } of client.listBooks({ signal: stop.signal })) {
      readIds.push(id);
      if (id === last) stop.abort(new Error('enough'));
    }
  };
  await expect(read()).rejects.toThrow('enough');
  expect(readIds).toHaveLength(last);
});

/** A client behind a gateway that decides by the name of a request, such as `GET /book/1`. It retries without waits. */
async function openGateway(decide: (name: string) => Fate) {
  const requests: string[] = [];
  const gateway = await startFaultyGateway(local.baseUrl, (name) => {
    requests.push(name);
    return decide(name);
  });
  onTestFinished(() => gateway.stop());
  const { baseUrl } = gateway;
  const client = createBookCatalogClient({ baseUrl, ...credentials, retries: { wait: async () => {} } });
  return { client, requests, baseUrl };
}
