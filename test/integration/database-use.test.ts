import { beforeEach, describe, expect, test } from 'vitest';
import type { Book } from '../../lib/books/book.ts';
import { createWriteToken } from '../../lib/dynamodb/write-token.ts';
import { functions } from '../../serverless/packaging/package-service.ts';
import { startEngine } from '../simulators/engine.ts';
import { type FaultyProxy, type MeteredRequest, startFaultyProxy } from '../simulators/faulty-proxy.ts';
import {
  type BookTable,
  connect,
  emma,
  listBooks,
  openList,
  seedBooks,
  setCounter,
  storeBook,
} from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { useTables, validToken } from '../support/fixtures.ts';
import { loadHandlers, settings } from '../support/load-handlers.ts';

/** What a successful request takes for a book of up to 1 KB, or a list of 1,000. Read units of 4 KB, write units of 1 KB. */
const capacityOf = {
  'GET /book/1': { requests: 1, readUnits: 1, writeUnits: 0 },
  'PUT /book/1': { requests: 1, readUnits: 0, writeUnits: 1 },
  'DELETE /book/1': { requests: 1, readUnits: 0, writeUnits: 1 },
  'POST /book': { requests: 2, readUnits: 0, writeUnits: 2 },
  'POST /token': { requests: 0, readUnits: 0, writeUnits: 0 },
};

/** Each function but the token's reads the counter when it starts. */
const starts = functions.length - 1;
const capacityOfStarts = { requests: starts, readUnits: starts, writeUnits: 0 };

/** Strongly consistent reads, "Read consumption for Amazon DynamoDB". */
const bytesPerReadUnit = 4096;

const tables = await useTables(startEngine);
let table: BookTable;
let proxy: FaultyProxy;

beforeEach(async () => {
  captureLog();
  table = await tables.open();
  proxy = await startFaultyProxy(tables.endpoint, { metersCapacity: true });
  return () => proxy.stop();
});

const unitsOf = (requests: readonly MeteredRequest[]) =>
  requests.reduce((total, { units }) => total + units, 0);

function takeSum() {
  const taken = proxy.takeRequests();
  const readUnits = unitsOf(taken.filter(({ operation }) => ['GetItem', 'Query'].includes(operation)));
  return { requests: taken.length, readUnits, writeUnits: unitsOf(taken) - readUnits };
}

test('no function asks for more than it has to, at its start and for each request', async () => {
  await seedBooks(table, 1_000);
  const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
  expect(takeSum()).toEqual(capacityOfStarts);

  const credentials = { username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD };
  const body = JSON.stringify({ ...emma, ...credentials });
  const bytes = (await listBooks(table)).reduce((total, book) => total + itemBytes(book), 0);
  // The counter has a unit of its own.
  const list = { requests: 2, readUnits: Math.ceil(bytes / bytesPerReadUnit) + 1, writeUnits: 0 };
  for (const [route, capacity] of Object.entries({ 'GET /books': list, ...capacityOf })) {
    const [method = '', path = ''] = route.split(' ');

    const { status } = await call(method, path, { headers: { Authorization: validToken }, body });

    expect(status, route).toBeLessThan(300);
    expect(takeSum(), route).toEqual(capacity);
  }
});

describe('reading the list', () => {
  const openProxied = () => openList({ client: connect(proxy.endpoint), tableName: table.tableName });
  const readAll = async () => {
    for await (const _ of openProxied().readAll());
    return proxy.takeRequests();
  };

  test('a page is one Query for its books; the whole list adds a unit for each shard and for the counter', async () => {
    const count = 12_000;
    await seedBooks(table, count);
    const bytes = (await listBooks(table)).reduce((total, book) => total + itemBytes(book), 0);
    proxy.takeRequests();

    for (const after of [0, 5_000, 9_800]) {
      await openProxied().readPage(after, 100);

      const requests = proxy.takeRequests();
      expect(requests.map(({ operation }) => operation)).toEqual(['Query']);
      expect(unitsOf(requests)).toBeLessThanOrEqual(Math.ceil((100 * bytes) / count / bytesPerReadUnit));
    }

    const requests = await readAll();
    const shards = 2;
    expect(requests.filter(({ operation }) => operation === 'GetItem')).toHaveLength(1);
    expect(unitsOf(requests)).toBeLessThanOrEqual((bytes / bytesPerReadUnit) * 1.05 + shards + 1);
    expect(unitsOf(requests)).toBeGreaterThanOrEqual((bytes / bytesPerReadUnit) * 0.95);
  });

  test('a small list takes one Query and the counter', async () => {
    await seedBooks(table, 3);

    const requests = await readAll();

    expect(requests.map(({ operation }) => operation).toSorted()).toEqual(['GetItem', 'Query']);
  });

  test('a reader who stops early has caused hardly more reads than it took', async () => {
    await setCounter(table, 500_001);
    await storeBook(table, { id: 10_001, ...emma });
    await storeBook(table, { id: 500_001, ...emma });

    for await (const _ of openProxied().readAll()) break;

    // The two shards that were read, and three ahead.
    expect(proxy.takeRequests().filter(({ operation }) => operation === 'Query').length).toBeLessThanOrEqual(
      5,
    );
  });
});

/** Sizes of attributes, "DynamoDB item sizes and formats": names in UTF-8, numbers about half a byte for each digit. */
function itemBytes(book: Book): number {
  const attributes = { ...book, shard: Math.floor(book.id / 10_000), writeToken: createWriteToken() };
  const sizeOf = (value: string | number) =>
    typeof value === 'string'
      ? Buffer.byteLength(value)
      : Math.ceil(String(value).replace(/0+$/, '').length / 2) + 1;
  return Object.entries(attributes).reduce((total, [name, value]) => total + name.length + sizeOf(value), 0);
}
