import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { emma, setCounter, storeBook } from '../../support/book-table.ts';
import { startFaultyService } from './faulty-service.ts';

test('an update whose response is lost, of a book that comes into being meanwhile, says whether it took effect', async () => {
  const { proxy, table, ask, readStored } = await startFaultyService();
  proxy.injectFault('UpdateItem', 'request lost', 1);
  proxy.injectFault('GetItem', 'no response', 1);

  const updating = ask('PUT', '/book/1', { title: 'ours' });
  await vi.waitFor(() => expect(proxy.countRequests('GetItem')).toBeGreaterThan(5), { timeout: 5_000 });
  await table.repository.create(emma);
  const { status } = await updating;

  expect([200, 404, 503]).toContain(status);
  expect((await readStored()).get(1)).toEqual({ id: 1, ...emma, ...(status === 200 && { title: 'ours' }) });
});

/** After the first attempt was refused, before the third. */
const refusedMs = 40;

test('a book that never was is not found after connections were refused: nothing was sent that could have changed it', async () => {
  const { proxy, ask } = await startFaultyService();
  const statuses: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    for (const method of ['DELETE', 'PUT'] as const) {
      await proxy.refuseConnections();
      const asking = ask(method, '/book/7', ...(method === 'PUT' ? [emma] : []));
      await sleep(refusedMs);
      await proxy.heal();
      statuses.push((await asking).status);
    }
  }

  // 503 when all three attempts were refused.
  expect(statuses.filter((status) => status !== 404 && status !== 503)).toEqual([]);
  expect(statuses).toContain(404);
});

test('a page of large books has every book that was there all along, whenever a book with a lower id lands', async () => {
  const { proxy, table, ask } = await startFaultyService();
  const large = { ...emma, title: 'x'.repeat(300_000) };
  const late = 19;
  const ids = [...Array(31).keys()].map((index) => index + 1).filter((id) => id !== late);
  await Promise.all(ids.map((id) => storeBook(table, { id, ...large })));
  await setCounter(table, 31);
  /** A page without the late book, and the books that belong on it. */
  const readPage = async () => {
    const { status, headers, envelope } = await ask('GET', '/books?limit=20&after=0');
    expect(status).toBe(200);
    const end = Number(/after=(\d+)/.exec(String(headers?.Link))?.[1]);
    const listed = (envelope.data as Book[]).map(({ id }) => id).filter((id) => id !== late);
    return { listed, complete: ids.filter((id) => id <= end) };
  };
  const { listed, complete } = await readPage();
  expect(listed).toEqual(complete);
  const queries = proxy.countRequests('Query');

  // The book is stored while the response to a Query is in transit.
  for (let query = 1; query <= queries; query += 1) {
    const before = proxy.countRequests('Query');
    proxy.injectFault('Query', 'response delayed', 1, query - 1);
    const reading = readPage();
    await vi.waitFor(
      () => expect(proxy.countRequests('Query')).toBeGreaterThanOrEqual(before + query),
      5_000,
    );
    await sleep(100);
    await storeBook(table, { id: late, ...large });
    const page = await reading;

    expect(page.listed, `book ${late} lands after Query ${query}`).toEqual(page.complete);
    await proxy.heal();
    await table.repository.delete(late);
  }
});

describe.each([
  ['HTTP', false],
  ['HTTPS', true],
])('a request over %s that times out in transit', (_scheme, isTls) => {
  test('undoes no later update when the network delivers it', async () => {
    const { proxy, table, ask, readStored } = await startFaultyService({ isTls });
    const { id } = await table.repository.create(emma);
    proxy.injectFault('UpdateItem', 'request held', 1);

    // One client, one request after the other.
    expect((await ask('PUT', `/book/${id}`, { title: 'first' })).status).toBe(200);
    expect((await ask('PUT', `/book/${id}`, { title: 'second' })).status).toBe(200);
    const { envelope } = await ask('PUT', `/book/${id}`, { title: 'third' });
    const delivered = await proxy.deliverHeld();

    expect((await readStored()).get(id)).toEqual({ id, ...emma, title: 'third' });
    expect(envelope.data).toEqual({ id, ...emma, title: 'third' });
    expect(delivered).toBe(1);
  });

  test('brings no deleted book back when the network gives it back', async () => {
    const { proxy, ask, readStored } = await startFaultyService({ isTls });
    proxy.injectFault('PutItem', 'request held', 1);

    const { status, envelope } = await ask('POST', '/book', emma);
    expect(status).toBe(201);
    const { id } = envelope.data as Book;
    expect((await ask('DELETE', `/book/${id}`)).status).toBe(200);
    const delivered = await proxy.deliverHeld();

    expect(await readStored()).toEqual(new Map());
    expect((await ask('GET', `/book/${id}`)).status).toBe(404);
    expect(delivered).toBe(1);
  });

  test.each(['PUT', 'DELETE'])('undoes nothing that is written after its %s was given up', async (method) => {
    const { proxy, table, ask, readStored } = await startFaultyService({ isTls });
    const { id } = await table.repository.create(emma);
    proxy.disturb({ fault: 'request held' });

    const { status } = await ask(method, `/book/${id}`, { title: 'too late' });
    await table.repository.update(id, { title: 'theirs' });
    const delivered = await proxy.deliverHeld();

    expect(status).toBe(503);
    expect(delivered).toBeGreaterThan(0);
    expect((await readStored()).get(id)).toEqual({ id, ...emma, title: 'theirs' });
  });
});
