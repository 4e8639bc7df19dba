import { expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { type Fault, faults } from '../../simulators/faulty-proxy.ts';
import { type FaultyHandlers, startFaultyHandlers } from './faulty-handlers.ts';

const faultNames = Object.keys(faults) as Fault[];

/** The longest that the slowest check of one fault takes: it waits for every attempt at every request. */
const timeLimitMs = 150_000;

/**
 * Runs a check under every fault at the same time, as most of the time goes by in waiting for time limits. Each fault
 * has a service of its own.
 *
 * @param check - returns what is wrong
 * @returns what is wrong, by fault
 */
async function underEveryFault(
  check: (service: FaultyHandlers, fault: Fault) => Promise<string[]>,
): Promise<Record<string, string[]>> {
  const services: [Fault, FaultyHandlers][] = [];
  for (const fault of faultNames) services.push([fault, await startFaultyHandlers()]);
  const results = await Promise.all(
    services.map(async ([fault, service]) => [fault, await check(service, fault)] as const),
  );
  return Object.fromEntries(results);
}

const nothingWrong = Object.fromEntries(faultNames.map((fault) => [fault, []]));

/** Where a create with a key is hit: in every request once, when it stores the book, when it marks the key as used. */
const hits: readonly ((service: FaultyHandlers, fault: Fault) => void)[] = [
  ({ proxy }, fault) => proxy.disturb({ fault, attempts: 1 }),
  ({ proxy }, fault) => proxy.injectFault('PutItem', fault, 6, 1),
  ({ proxy }, fault) => proxy.injectFault('UpdateItem', fault, 6, 1),
];

async function checkKey(service: FaultyHandlers, fault: Fault, hit: number): Promise<string[]> {
  const { ask, proxy, readStored } = service;
  const wrong: string[] = [];
  const fields = { title: `hit ${hit}`, author: 'x', year: 1 };
  const create = () => ask('POST', '/book', fields, { 'Idempotency-Key': `key-${hit}` });
  const storedBooks = async () =>
    [...(await readStored()).values()].filter(({ title }) => title === fields.title);

  hits[hit]?.(service, fault);
  const disturbed = await Promise.all([create(), create()]);
  await proxy.heal();
  const repeated = await Promise.all([create(), create()]);

  for (const { status } of disturbed) {
    if (status !== 201 && status !== 503) wrong.push(`hit ${hit}: the status under the fault is ${status}`);
  }
  for (const { status } of repeated)
    if (status !== 201) wrong.push(`hit ${hit}: then the status is ${status}`);
  const created = [...disturbed, ...repeated].filter(({ status }) => status === 201);
  const told = new Set(
    created.map(({ envelope, headers }) => JSON.stringify([envelope.data, headers?.ETag])),
  );
  if (told.size !== 1) wrong.push(`hit ${hit}: clients were told ${[...told].join(' and ')}`);
  const stored = await storedBooks();
  if (stored.length !== 1) wrong.push(`hit ${hit}: there are ${stored.length} books`);
  const data = created[0]?.envelope.data as Book | undefined;
  if (data === undefined) return wrong;
  if (JSON.stringify(stored[0]) !== JSON.stringify(data))
    wrong.push(`hit ${hit}: stored is ${JSON.stringify(stored)}`);

  await ask('PUT', `/book/${data.id}`, { year: 2 });
  const afterUpdate = await create();
  await ask('DELETE', `/book/${data.id}`);
  const afterDeletion = await create();
  for (const replay of [afterUpdate, afterDeletion]) {
    const { status, headers, envelope } = replay;
    const isReplay = status === 201 && headers?.['Idempotency-Replayed'] === 'true';
    if (!isReplay || JSON.stringify(envelope.data) !== JSON.stringify(data)) {
      wrong.push(`hit ${hit}: a replay is ${JSON.stringify(replay)}`);
    }
  }
  if ((await storedBooks()).length > 0) wrong.push(`hit ${hit}: a replay brought the book back`);
  return wrong;
}

test(
  'creates with an idempotency key, two at once, under every fault: one book, and every client learns the same of it',
  async () => {
    const wrong = await underEveryFault(async (service, fault) => {
      const found: string[] = [];
      for (const hit of hits.keys()) found.push(...(await checkKey(service, fault, hit)));
      return found;
    });

    expect(wrong).toEqual(nothingWrong);
  },
  timeLimitMs,
);

/** Each of so many clients reads the book and adds one to its year with If-Match, until it was told so often that it did. */
const clients = 3;
const additions = 5;

/** A client gives up then; of a fault that takes seconds there are fewer additions. */
const editingMs = 20_000;

test(
  'clients that edit a book with If-Match, under every fault: no change is overwritten, none is there that was refused',
  async () => {
    const wrong = await underEveryFault(async ({ ask, proxy, table, readStored }, fault) => {
      const { id } = await table.repository.create({ title: 'edited', author: 'x', year: 0 });
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

      const year = (await readStored()).get(id)?.year ?? 0;
      const found = [...statuses]
        .filter((status) => ![200, 412, 503].includes(status))
        .map((s) => `status ${s}`);
      if (done === 0) found.push('no change was made');
      if (year < done) found.push(`${done - year} changes were overwritten`);
      if (year > done + unknown) found.push(`${year - done - unknown} changes were refused and made`);
      const { status } = await ask('DELETE', path, undefined, { 'If-Match': '"another"' });
      if (status !== 412 || !(await readStored()).has(id)) found.push(`DELETE of another version: ${status}`);
      return found;
    });

    expect(wrong).toEqual(nothingWrong);
  },
  timeLimitMs,
);
