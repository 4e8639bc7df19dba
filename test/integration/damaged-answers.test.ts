import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { StorageUnavailableError } from '../../lib/books/errors.ts';
import { type Engine, startEngine } from '../simulators/engine.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../simulators/faulty-proxy.ts';
import {
  type Books,
  type BookTable,
  connect,
  createBookTable,
  emma,
  listBooks,
  openBooks,
  type TableAccess,
} from '../support/book-table.ts';

/** Not every engine sends checksums, so that this is about the embedded one. */
let engine: Engine;
let proxy: FaultyProxy;
let table: BookTable;
let proxied: TableAccess;
let books: Books;

beforeAll(async () => {
  engine = await startEngine();
});

afterAll(async () => {
  await engine.stop();
});

beforeEach(async () => {
  proxy = await startFaultyProxy(engine.endpoint);
  table = await createBookTable(engine.endpoint);
  proxied = { client: connect(proxy.endpoint), tableName: table.tableName };
  books = openBooks(proxied);
});

afterEach(async () => {
  await proxy.stop();
});

const damages: Fault[] = ['response altered', 'wrong checksum', 'response reset', 'garbage'];

test.each(damages)('%s, once: every operation is sent again', async (fault) => {
  proxy.disturb({ fault, attempts: 1 });

  const created = await books.create(emma);
  const updated = await books.update(created.id, { year: 1816 });
  const read = await books.get(created.id);
  const listed = await listBooks(proxied);
  await books.delete(created.id);

  expect(updated).toEqual({ ...created, year: 1816 });
  expect(read).toEqual(updated);
  expect(listed).toEqual([updated]);
  expect(await listBooks(table)).toEqual([]);
});

test.each(damages)('%s, always: the storage is unavailable, and no wrong data is believed', async (fault) => {
  const { id } = await table.repository.create(emma);
  proxy.disturb({ fault });

  await Promise.all([
    expect(books.create(emma)).rejects.toThrow(StorageUnavailableError),
    expect(books.get(id)).rejects.toThrow(StorageUnavailableError),
    expect(books.get(99)).rejects.toThrow(StorageUnavailableError),
    expect(books.update(id, {})).rejects.toThrow(StorageUnavailableError),
    expect(books.delete(99)).rejects.toThrow(StorageUnavailableError),
    expect(listBooks(proxied)).rejects.toThrow(StorageUnavailableError),
  ]);
});
