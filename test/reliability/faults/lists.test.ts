import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { checksumFaults, responseDelayed } from '../../simulators/faults.ts';
import { emma, setCounter, storeBook } from '../../support/book-table.ts';
import { startFaultyService } from './faulty-service.ts';

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
    const end = Number(/after=(\d+)/.exec(String(headers.get('Link')))?.[1]);
    const listed = (envelope.data as Book[]).map(({ id }) => id).filter((id) => id !== late);
    return { listed, complete: ids.filter((id) => id <= end) };
  };
  const { listed, complete } = await readPage();
  expect(listed).toEqual(complete);
  const queries = proxy.countRequests('Query');

  // The book is stored while the response to a Query is in transit.
  for (let query = 1; query <= queries; query += 1) {
    const before = proxy.countRequests('Query');
    proxy.injectFault('Query', responseDelayed, 1, query - 1);
    const reading = readPage();
    await vi.waitFor(() => expect(proxy.countRequests('Query')).toBeGreaterThanOrEqual(before + query), 60_000);
    await sleep(100);
    await storeBook(table, { id: late, ...large });
    const page = await reading;

    expect(page.listed, `book ${late} lands after Query ${query}`).toEqual(page.complete);
    await proxy.heal();
    await table.repository.delete(late);
  }
});

test('a wrong response of the counter alone makes no list shorter', async () => {
  const { table, proxy, ask } = await startFaultyService();
  const book = await table.repository.create(emma);
  for (const fault of checksumFaults) {
    proxy.disturb({ fault, operations: ['GetItem'] });
    expect((await ask('GET', '/books')).status, fault.name).toBe(503);

    proxy.disturb({ fault, operations: ['GetItem'], attempts: 2 });
    expect((await ask('GET', '/books')).envelope.data, fault.name).toEqual([book]);
  }
});
