import { describe, expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import type { FaultyProxy, WrongResponse } from '../../simulators/faulty-proxy.ts';
import { emma } from '../../support/book-table.ts';
import { type FaultyService, startFaultyService } from './faulty-service.ts';

const bodies: Readonly<Record<string, WrongResponse['bodyOf']>> = {
  nothing: () => Buffer.from(''),
  'half of the body': (body) => body.subarray(0, body.length / 2),
  null: () => Buffer.from('null'),
  '[]': () => Buffer.from('[]'),
  '{}': () => Buffer.from('{}'),
  '{"Item":{}}': () => Buffer.from('{"Item":{}}'),
  '{"Attributes":{}}': () => Buffer.from('{"Attributes":{}}'),
};

/** Bodies that mean "no such item" from an engine without checksums. */
const saysNoItem = ['{}', '{"Attributes":{}}'];

/** Sends a request of each kind, the writes to books of their own. */
async function askEverything(
  { ask, proxy, readStored, table: { repository } }: FaultyService,
  disturbance: Parameters<FaultyProxy['disturb']>[0],
) {
  const books = [await repository.create(emma), await repository.create(emma), await repository.create(emma)];
  const [kept, changed, deleted] = books as [Book, Book, Book];
  const changes = { ...emma, title: 'changed' };
  proxy.disturb(disturbance);
  const responses = {
    'POST /book': await ask('POST', '/book', emma),
    'GET /book/{id}': await ask('GET', `/book/${kept.id}`),
    'GET /books': await ask('GET', '/books'),
    'GET /books, a page': await ask('GET', `/books?limit=2&after=${kept.id - 1}`),
    'PUT /book/{id}': await ask('PUT', `/book/${changed.id}`, changes),
    'PUT /book/{id} without changes': await ask('PUT', `/book/${kept.id}`, {}),
    'DELETE /book/{id}': await ask('DELETE', `/book/${deleted.id}`),
  };
  await proxy.heal();
  const stored = await readStored();
  return { kept, changed: { id: changed.id, ...changes }, deleted, responses, stored };
}

/** Expects one of some statuses of every request under a fault at every attempt. */
async function expectStatuses(service: FaultyService, fault: WrongResponse, expected: readonly number[]) {
  const { deleted, responses, stored } = await askEverything(service, { fault });
  for (const [name, { status }] of Object.entries(responses)) {
    // The second attempt of DELETE gets a complete error: nothing to delete.
    expect(name === 'DELETE /book/{id}' ? [200, 503] : expected, name).toContain(status);
  }
  expect(stored.has(deleted.id)).toBe(false);
}

function absent(name: string): WrongResponse {
  return { bodyOf: bodies[name] as WrongResponse['bodyOf'], checksum: 'absent' };
}

const names = Object.keys(bodies);
const cases = names.flatMap((name) => (['absent', 'wrong'] as const).map((checksum) => ({ name, checksum })));

describe.each(cases)('HTTP 200 with $name and the checksum $checksum', ({ name, checksum }) => {
  const fault = { ...absent(name), checksum };

  test('at one attempt or two: no client notices', async () => {
    const service = await startFaultyService();
    for (const attempts of [1, 2]) {
      const { kept, changed, deleted, responses, stored } = await askEverything(service, { fault, attempts });
      const created = responses['POST /book'].envelope.data as Book;
      for (const [name, { status }] of Object.entries(responses)) {
        expect(status, name).toBe(name === 'POST /book' ? 201 : 200);
      }
      expect(stored.get(created.id)).toEqual(created);
      expect(stored.get(changed.id)).toEqual(changed);
      expect(stored.has(deleted.id)).toBe(false);
      expect(responses['GET /book/{id}'].envelope.data).toEqual(kept);
      expect(responses['GET /books'].envelope.data).toContainEqual(kept);
      expect(responses['PUT /book/{id}'].envelope.data).toEqual(changed);
    }
  });

  test('at every attempt: 503 for all that cannot be known', async () => {
    await expectStatuses(await startFaultyService(), fault, [503]);
  });
});

test.each(names)('an engine without checksums that sends %s makes nothing up', async (name) => {
  const service = await startFaultyService({ withoutChecksums: true });
  await expectStatuses(service, absent(name), saysNoItem.includes(name) ? [404, 500, 503] : [500, 503]);
});

describe('a response of the counter alone', () => {
  test.each(names)('that is %s makes no list shorter', async (name) => {
    const service = await startFaultyService();
    const { table, proxy, ask } = service;
    await table.repository.create(emma);
    const fault = absent(name);
    proxy.disturb({ fault, operations: ['GetItem'] });

    expect((await ask('GET', '/books')).status).toBe(503);

    proxy.disturb({ fault, operations: ['GetItem'], attempts: 2 });
    const { status, envelope } = await ask('GET', '/books');
    expect(status).toBe(200);
    expect(envelope.data).toEqual([{ id: 1, ...emma }]);
  });
});
