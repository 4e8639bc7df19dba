import { expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import type { Fault } from '../../simulators/faulty-proxy.ts';
import { aBook } from '../../support/a-book.ts';
import { type FaultyService, underEveryFault } from './faulty-service.ts';

/** The slowest faults reach every timeout of every request. */
const timeLimitMs = 150_000;

/** The place of the fault: every request once, storing the book, marking the key as used. */
const hits: readonly ((service: FaultyService, fault: Fault) => void)[] = [
  ({ proxy }, fault) => proxy.disturb({ fault, attempts: 1 }),
  ({ proxy }, fault) => proxy.injectFault('PutItem', fault, 6, 1),
  ({ proxy }, fault) => proxy.injectFault('UpdateItem', fault, 6, 1),
];

async function checkKey(service: FaultyService, fault: Fault, hit: number): Promise<void> {
  const { ask, proxy, readStored } = service;
  const fields = { title: `hit ${hit}`, author: 'x', year: 1 };
  const create = () => ask('POST', '/book', fields, { 'Idempotency-Key': `key-${hit}` });
  const storedBooks = async () =>
    [...(await readStored()).values()].filter(({ title }) => title === fields.title);

  hits[hit]?.(service, fault);
  const disturbed = await Promise.all([create(), create()]);
  await proxy.heal();
  const repeated = await Promise.all([create(), create()]);

  for (const { status } of disturbed) expect([201, 503], fields.title).toContain(status);
  expect(repeated.map(({ status }) => status)).toEqual([201, 201]);
  const created = [...disturbed, ...repeated].filter(({ status }) => status === 201);
  const replies = created.map(({ envelope, headers }) => [envelope.data, headers?.ETag]);
  expect(replies).toEqual(replies.map(() => replies[0]));
  const book = created[0]?.envelope.data as Book;
  expect(await storedBooks()).toEqual([book]);

  await ask('PUT', `/book/${book.id}`, { year: 2 });
  const afterUpdate = await create();
  await ask('DELETE', `/book/${book.id}`);
  for (const { status, headers, envelope } of [afterUpdate, await create()]) {
    expect([status, headers?.['Idempotency-Replayed'], envelope.data]).toEqual([201, 'true', book]);
  }
  expect(await storedBooks(), 'a replay brought the book back').toEqual([]);
}

test(
  'creates with an idempotency key, two at once, under every fault: one book, and every client learns the same of it',
  async () => {
    await underEveryFault(async (service, fault) => {
      for (const hit of hits.keys()) await checkKey(service, fault, hit);
    });
  },
  timeLimitMs,
);

/** Each client increments the year with If-Match until it has this number of successes. */
const clients = 3;
const additions = 5;

/** A client stops then; a slow fault allows fewer increments. */
const editingMs = 20_000;

test(
  'clients that edit a book with If-Match, under every fault: no change is overwritten, none is there that was refused',
  async () => {
    await underEveryFault(async ({ ask, proxy, table, readStored }, fault) => {
      const { id } = await table.repository.create(aBook({ title: 'edited' }));
      const path = `/book/${id}`;
      let done = 0;
      let unknown = 0;
      const statuses = new Set<number>();
      const edit = async () => {
        const end = Date.now() + editingMs;
        for (let added = 0; added < additions && Date.now() < end; ) {
          const { envelope, headers } = await ask('GET', path);
          const { year } = envelope.data as Book;
          const ifMatch = { 'If-Match': String(headers?.ETag) };
          const { status } = await ask('PUT', path, { year: year + 1 }, ifMatch);
          statuses.add(status);
          if (status === 200) {
            added += 1;
            done += 1;
          }
          if (status === 503) unknown += 1;
        }
      };
      proxy.disturb({ fault, operations: ['UpdateItem'], attempts: 2 });
      await Promise.all(Array.from({ length: clients }, edit));
      await proxy.heal();

      for (const status of statuses) expect([200, 412, 503]).toContain(status);
      expect(done, 'changes').toBeGreaterThan(0);
      const year = (await readStored()).get(id)?.year;
      expect(year, 'changes were overwritten').toBeGreaterThanOrEqual(done);
      expect(year, 'changes were refused and made').toBeLessThanOrEqual(done + unknown);
      const { status } = await ask('DELETE', path, undefined, { 'If-Match': '"another"' });
      expect(status).toBe(412);
      expect((await readStored()).has(id)).toBe(true);
    });
  },
  timeLimitMs,
);
