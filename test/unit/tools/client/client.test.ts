import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Outcome } from '../../../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../../../serverless/api-gateway/gateway-responses.ts';
import {
  type BookCatalogClient,
  BookCatalogError,
  type BookCatalogOptions,
  createBookCatalogClient,
} from '../../../../tools/client/book-catalog-client.ts';
import { untilAborted } from '../../../../tools/client/retries.ts';

type Fetched = Awaited<ReturnType<NonNullable<BookCatalogOptions['fetch']>>>;

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

const book = { id: 1, title: '', author: '', year: 0 };
const bytesOf = (data: unknown) => new TextEncoder().encode(JSON.stringify({ status: 200, message: 'OK', data }));
const login = bytesOf({ token: 'a token' });

/** A response whose parts arrive one after the other, each after a time. */
function dripping(parts: readonly Uint8Array[], everyMs: number, signal: AbortSignal): Fetched {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason));
      for (const part of parts) {
        await new Promise((resolve) => setTimeout(resolve, everyMs));
        if (signal.aborted) return;
        controller.enqueue(part);
      }
      controller.close();
    },
  });
  return { status: 200, headers: new Headers(), body, text: () => new Response(body).text() };
}

const unavailable = (signal: AbortSignal): Fetched => {
  const body = new TextEncoder().encode('{"status":503,"message":"Service unavailable","data":null}');
  return { ...dripping([body], 1, signal), status: 503 };
};

/** A client whose requests after the login are answered one by one. */
function createClient(
  respond: (attempt: number, signal: AbortSignal) => Fetched | Promise<Fetched>,
  retries: NonNullable<BookCatalogOptions['retries']> = {},
) {
  let [attempts, logins] = [0, 0];
  const fetch: NonNullable<BookCatalogOptions['fetch']> = async (url, { signal }) => {
    if (url.endsWith('/token')) {
      logins += 1;
      return dripping([login], 0, signal);
    }
    attempts += 1;
    return respond(attempts, signal);
  };
  const address = { baseUrl: 'http://books.example', username: 'u', password: 'p' };
  const client = createBookCatalogClient({ ...address, retries, fetch });
  return { client, attempts: () => attempts, logins: () => logins };
}

/** Lets the time go on until a promise is settled. @returns its value or its error */
async function settle<Value>(promise: Promise<Value>): Promise<Value | Error> {
  let outcome: { value: Value | Error } | undefined;
  promise.then(
    (value) => {
      outcome = { value };
    },
    (error: Error) => {
      outcome = { value: error };
    },
  );
  while (outcome === undefined) await vi.advanceTimersByTimeAsync(1_000);
  return outcome.value;
}

test('a page that arrives slowly arrives, however long it takes', async () => {
  const bytes = bytesOf([book]);
  const parts = Array.from(bytes, (byte) => Uint8Array.of(byte));
  const { client, attempts } = createClient((_attempt, signal) => dripping(parts, 34_000, signal));

  expect(await settle(Array.fromAsync(client.listBooks()))).toEqual([book]);
  expect(attempts()).toBe(1);
});

test('a response of which nothing arrives for 35 s is given up, before its start and within it', async () => {
  const [start, end] = [bytesOf(book).subarray(0, 5), bytesOf(book).subarray(5)];
  const silent = (signal: AbortSignal) =>
    new Promise<Fetched>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const respond = (attempt: number, signal: AbortSignal) =>
    attempt === 1 ? silent(signal) : dripping([start, end], attempt === 2 ? 36_000 : 1, signal);
  const { client, attempts } = createClient(respond, { giveUpAfterMs: 180_000 });
  const startedAt = Date.now();

  expect(await settle(client.getBook(1))).toEqual({ book, etag: '' });

  expect(attempts()).toBe(3);
  expect(Date.now() - startedAt).toBeLessThan(80_000);
});

test('a client that has 3 minutes waits as long as the service asks it to wait, twice', async () => {
  const responses: readonly Outcome[] = Object.values(gatewayResponses);
  const waits = responses.map(({ headers }) => Number(headers?.['Retry-After'] ?? 0));
  const headers = new Headers({ 'Retry-After': `${Math.max(...waits)}` });
  const throttled = new TextEncoder().encode('{"status":429,"message":"Too many requests","data":null}');
  const respond = (attempt: number, signal: AbortSignal) =>
    attempt > 2 ? dripping([bytesOf(book)], 0, signal) : { ...dripping([throttled], 0, signal), status: 429, headers };
  const { client } = createClient(respond, { giveUpAfterMs: 180_000 });
  const startedAt = Date.now();

  expect(await settle(client.updateBook(1, {}))).toEqual({ book, etag: '' });
  expect(Math.max(...waits)).toBeGreaterThan(1);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(2_000 * Math.max(...waits));
});

test.each([
  ['Sun, 22 Nov 2026 12:01:00 GMT', 60_000],
  ['Sun, 22 Nov 2020 12:00:00 GMT', 0],
  ['soon', 0],
  ['-1', 0],
])('a Retry-After of %j asks for a wait of %i ms', (value, waitMs) => {
  vi.setSystemTime('2026-11-22T12:00:00Z');
  const response = { status: 503, headers: new Headers({ 'Retry-After': value }) };

  expect(new BookCatalogError('Service unavailable', response).retryAfterMs).toBe(waitMs);
});

test.each([
  ['longest', 1, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
  ['shortest', 0, [125, 250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]],
])('the %s waits between attempts double up to a limit', async (_which, chance, expected) => {
  vi.spyOn(Math, 'random').mockReturnValue(chance);
  const waits: number[] = [];
  const wait = async ({ waitMs }: { readonly waitMs: number }) => void waits.push(waitMs);
  const { client } = createClient(
    (attempt, signal) => (attempt > expected.length ? dripping([bytesOf(book)], 0, signal) : unavailable(signal)),
    { giveUpAfterMs: 180_000, wait },
  );

  expect(await settle(client.getBook(1))).toEqual({ book, etag: '' });
  expect(waits).toEqual(expected);
});

test.each([
  ['30 s', true, 4_250, 8],
  ['less than 30 s', true, 4_251, 7],
  ['5 s if the service has never responded', false, 1_250, 5],
  ['less than 5 s if the service has never responded', false, 1_251, 4],
])('a call is given up after %s', async (_limit, hasResponded, firstMs, attempts) => {
  vi.spyOn(Math, 'random').mockReturnValue(1); // The longest waits: 0.25, 0.5, 1, 2, 4, 8 and then 10 s.
  const send = vi.fn(async () => {
    if (send.mock.calls.length === 1) await new Promise((resolve) => setTimeout(resolve, firstMs));
    throw new TypeError('Failed to fetch');
  });
  const fetch: NonNullable<BookCatalogOptions['fetch']> = async (url, { signal }) =>
    hasResponded && url.endsWith('/token') ? dripping([login], 0, signal) : send();
  const client = createBookCatalogClient({ baseUrl: 'http://books.example', username: 'u', password: 'p', fetch });

  const message = `no response from http://books.example/${hasResponded ? 'book/1' : 'token'} (Failed to fetch)`;
  expect(await settle(client.getBook(1))).toMatchObject({ name: 'BookCatalogError', status: undefined, message });
  expect(send).toHaveBeenCalledTimes(attempts);
});

test('a call that is aborted before its login ends, or while it waits for a retry, ends at once and leaves no timer', async () => {
  const silent = createBookCatalogClient({
    baseUrl: 'http://books.example',
    username: 'u',
    password: 'p',
    fetch: (_url, { signal }) => untilAborted(new Promise(() => {}), signal),
  });
  await expect(silent.getBook(1, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');

  const stop = new AbortController();
  const { client } = createClient((_attempt, signal) => unavailable(signal));
  const read = client.getBook(1, { signal: stop.signal }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(100);
  stop.abort(new Error('too late'));

  expect(await read).toEqual(new Error('too late'));
  expect(vi.getTimerCount()).toBe(0);
});

test("a call that is aborted ends at once, also while the caller's own function waits for a retry", async () => {
  const stop = new AbortController();
  const { client } = createClient((_attempt, signal) => unavailable(signal), { wait: () => new Promise(() => {}) });
  const ended = vi.fn();
  client.getBook(1, { signal: stop.signal }).catch(ended);
  await vi.advanceTimersByTimeAsync(100);

  stop.abort(new Error('too late'));
  await vi.advanceTimersByTimeAsync(0);

  expect(ended).toHaveBeenCalledWith(new Error('too late'));
});

// A token that expires costs a 401, and operators have an alarm on those.
test('a token is used for 14 minutes, and renewed before it expires', async () => {
  const { client, logins } = createClient((_attempt, signal) => dripping([bytesOf(book)], 0, signal));
  await settle(client.getBook(1));

  await vi.advanceTimersByTimeAsync(13 * 60_000);
  await settle(client.getBook(1));
  expect(logins()).toBe(1);

  await vi.advanceTimersByTimeAsync(60_000);
  await settle(client.getBook(1));
  expect(logins()).toBe(2);
});

test('a token comes from a function: for the first request, once more when it is refused, and again after it failed', async () => {
  const sent: string[] = [];
  const fetch: NonNullable<BookCatalogOptions['fetch']> = async (_url, { headers, signal }) => {
    sent.push(headers.authorization ?? '');
    if (headers.authorization === 'second') return dripping([bytesOf(book)], 0, signal);
    const body = new TextEncoder().encode('{"status":401,"message":"Invalid token","data":null}');
    return { ...dripping([body], 0, signal), status: 401 };
  };
  const getToken = vi.fn<() => string | Promise<string>>(async () => 'first');
  const client = createBookCatalogClient({ baseUrl: 'http://books.example', getToken, fetch });

  getToken.mockRejectedValueOnce(new Error('signed out'));
  await expect(client.getBook(1)).rejects.toThrow('signed out');
  expect(await settle(client.getBook(1))).toMatchObject({ status: 401 });
  getToken.mockReturnValueOnce('second');
  for (const _ of [1, 2]) expect(await settle(client.getBook(1))).toMatchObject({ book });

  expect(sent).toEqual(['first', 'first', 'first', 'second', 'second']);
});

test.each([
  ['a page instead of a token', async () => '<html>502 Bad Gateway</html>', 'is not a token'],
  ['no token for 35 s', () => new Promise<string>(() => {}), 'no token after 35 s'],
])(
  'a function that gives %s fails the calls that wait for it, and is called again for the next',
  async (_what, first, reason) => {
    const getToken = vi.fn(first);
    // As in node-fetch, the body is not a stream of the web.
    const text = async () => new TextDecoder().decode(bytesOf(book));
    const fetch = async () => ({ status: 200, headers: new Headers(), body: {}, text });
    const client = createBookCatalogClient({ baseUrl: 'http://books.example', getToken, fetch });

    const failed = [client.getBook(1), client.getBook(2)].map(settle);
    for (const each of failed) expect(await each).toMatchObject({ message: expect.stringContaining(reason) });
    expect(getToken).toHaveBeenCalledOnce();

    getToken.mockResolvedValueOnce('token\n');
    expect(await settle(client.getBook(1))).toMatchObject({ book });
    expect(vi.getTimerCount()).toBe(0);
  },
);

test('a client uses the global fetch of the moment, and needs nothing that browsers keep from pages loaded by HTTP', async () => {
  const client = createBookCatalogClient({ baseUrl: 'http://books.example', getToken: () => 'token' });
  const fetch = vi.fn(async (_url: string, { signal }: { signal: AbortSignal }) =>
    dripping([bytesOf(book)], 0, signal),
  );
  vi.stubGlobal('fetch', fetch);
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });

  expect(await settle(client.createBook({}))).toMatchObject({ book });
});

test('calls leave no listener at their signal', async () => {
  const { client } = createClient((attempt, signal) =>
    attempt === 1 ? unavailable(signal) : dripping([bytesOf(book)], 1, signal),
  );
  const { signal } = new AbortController();

  expect(await settle(client.getBook(1, { signal }))).toEqual({ book, etag: '' });

  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

/** A client whose requests are recorded. Each succeeds with the data for its method. */
function recordRequests(data: Readonly<Record<string, unknown>>) {
  const requests: { line: string; headers: Readonly<Record<string, string>>; body: string | null }[] = [];
  const fetch: NonNullable<BookCatalogOptions['fetch']> = async (url, { method, headers, body, signal }) => {
    if (url.endsWith('/token')) return dripping([login], 0, signal);
    requests.push({ line: `${method} ${url}`, headers, body });
    return dripping([bytesOf(data[method])], 0, signal);
  };
  const address = { baseUrl: 'http://books.example/prod/', username: 'u', password: 'p', getToken: undefined };
  const retries = { giveUpAfterMs: undefined, wait: undefined };
  return { client: createBookCatalogClient({ ...address, retries, fetch }), requests };
}

const byId: Readonly<Record<string, (client: BookCatalogClient, id: number | string) => Promise<unknown>>> = {
  GET: (client, id) => client.getBook(id),
  PUT: (client, id) => client.updateBook(id, {}),
  DELETE: (client, id) => client.deleteBook(id),
};

test.each(Object.entries(byId))('%s takes the digits of an id for the id', async (method, call) => {
  for (const id of [104, Number.MAX_SAFE_INTEGER]) {
    const found = { ...book, id };
    const { client, requests } = recordRequests({ GET: found, PUT: found, DELETE: null });

    for (const given of [id, `${id}`]) expect(await settle(call(client, given))).not.toBeInstanceOf(Error);

    expect(requests.map(({ line }) => line)).toEqual(Array(2).fill(`${method} http://books.example/prod/book/${id}`));
  }
});

const notIds = [0, -1, 1.5, 2 ** 53, '', 'abc', '01', '1e3', '1\n', '1/../2', undefined];

test.each(Object.entries(byId))('%s sends nothing to a book that cannot be', async (_method, call) => {
  const { client, requests } = recordRequests({ GET: book, PUT: book, DELETE: null });

  for (const id of notIds) {
    const message = `"${id}" is not the id of a book, a whole number from 1`;
    expect(await settle(call(client, id as string))).toEqual(new TypeError(message));
  }
  expect(requests).toEqual([]);
});

test('an option or a field that is undefined is left out', async () => {
  const { client, requests } = recordRequests({ GET: book, PUT: book, POST: book, DELETE: null });
  const none = undefined as string | undefined;
  const callAll = async () => {
    await client.createBook({ title: none, year: undefined }, { idempotencyKey: none });
    await client.updateBook(1, { author: none }, { ifMatch: none, signal: undefined });
    await client.deleteBook(1, { ifMatch: none });
    return client.getBook(1, { ifNoneMatch: none });
  };

  expect(await settle(callAll())).toEqual({ book, etag: '' });

  expect(requests.map(({ body }) => body)).toEqual(['{}', '{}', null, null]);
  const names = requests.map(({ headers }) => Object.keys(headers).filter((name) => name !== 'content-type'));
  expect(names).toEqual([['authorization', 'idempotency-key'], ...Array(3).fill(['authorization'])]);
});

// A proxy that compresses makes tags weak, and those never match in If-Match.
test('a weak entity tag is sent as a strong one in If-Match', async () => {
  const { client, requests } = recordRequests({ PUT: book, DELETE: null });
  const changeBoth = async () => {
    await client.updateBook(1, {}, { ifMatch: 'W/"x"' });
    await client.deleteBook(1, { ifMatch: 'W/"x"' });
  };

  await settle(changeBoth());

  expect(requests.map(({ headers }) => headers['if-match'])).toEqual(['"x"', '"x"']);
});

test('the client has the version of the service, and its manual the name of that package', () => {
  const read = (file: string) => readFileSync(file, 'utf8');
  const { version } = JSON.parse(read('package.json'));

  expect(JSON.parse(read('tools/client/package.json')).version).toBe(version);
  expect(read('tools/client/README.md')).toContain(`book-catalog-client-${version}.tgz`);
});
