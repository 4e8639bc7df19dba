import { describe, expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import type { WrongResponse } from '../../simulators/faulty-proxy.ts';
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
async function askEverything({ ask, table: { repository } }: FaultyService, begin: () => void) {
  const books = [await repository.create(emma), await repository.create(emma), await repository.create(emma)];
  const [kept, changed, deleted] = books as [Book, Book, Book];
  const changes = { ...emma, title: 'changed' };
  begin();
  const responses = {
    'POST /book': await ask('POST', '/book', emma),
    'GET /book/{id}': await ask('GET', `/book/${kept.id}`),
    'GET /books': await ask('GET', '/books'),
    'GET /books, a page': await ask('GET', `/books?limit=2&after=${kept.id - 1}`),
    'PUT /book/{id}': await ask('PUT', `/book/${changed.id}`, changes),
    'PUT /book/{id} without changes': await ask('PUT', `/book/${kept.id}`, {}),
    'DELETE /book/{id}': await ask('DELETE', `/book/${deleted.id}`),
  };
  return { kept, changed: { id: changed.id, ...changes }, deleted, responses };
}

function statusesOf(responses: Awaited<ReturnType<typeof askEverything>>['responses']) {
  return Object.fromEntries(Object.entries(responses).map(([name, { status }]) => [name, status]));
}

const names = Object.keys(bodies);
const cases = names.flatMap((name) => (['absent', 'wrong'] as const).map((checksum) => ({ name, checksum })));

describe.each(cases)('HTTP 200 with $name and the checksum $checksum', ({ name, checksum }) => {
  const fault = { bodyOf: bodies[name] as WrongResponse['bodyOf'], checksum };

  test('at one attempt or two: no client notices', async () => {
    const service = await startFaultyService();
    for (const attempts of [1, 2]) {
      const { kept, changed, deleted, responses } = await askEverything(service, () =>
        service.proxy.disturb({ fault, attempts }),
      );
      await service.proxy.heal();

      const stored = await service.readStored();
      const created = responses['POST /book'].envelope.data as Book;
      expect(statusesOf(responses)).toEqual({
        'POST /book': 201,
        'GET /book/{id}': 200,
        'GET /books': 200,
        'GET /books, a page': 200,
        'PUT /book/{id}': 200,
        'PUT /book/{id} without changes': 200,
        'DELETE /book/{id}': 200,
      });
      expect(stored.get(created.id)).toEqual(created);
      expect(stored.get(changed.id)).toEqual(changed);
      expect(stored.has(deleted.id)).toBe(false);
      expect(responses['GET /book/{id}'].envelope.data).toEqual(kept);
      expect(responses['GET /books'].envelope.data).toContainEqual(kept);
      expect(responses['PUT /book/{id}'].envelope.data).toEqual(changed);
    }
  });

  test('at every attempt: 503 for all that cannot be known', async () => {
    const service = await startFaultyService();
    const { deleted, responses } = await askEverything(service, () => service.proxy.disturb({ fault }));
    await service.proxy.heal();

    // The second attempt of DELETE gets a complete error: nothing to delete.
    const { 'DELETE /book/{id}': deletion, ...others } = statusesOf(responses);
    expect(Object.entries(others).filter(([, status]) => status !== 503)).toEqual([]);
    expect([200, 503]).toContain(deletion);
    expect((await service.readStored()).has(deleted.id)).toBe(false);
  });
});

test.each(names)('an engine without checksums that sends %s makes nothing up', async (name) => {
  const service = await startFaultyService({ withoutChecksums: true });
  const fault = { bodyOf: bodies[name] as WrongResponse['bodyOf'], checksum: 'absent' } as const;
  const { deleted, responses } = await askEverything(service, () => service.proxy.disturb({ fault }));
  await service.proxy.heal();

  const { 'DELETE /book/{id}': deletion, ...others } = statusesOf(responses);
  const unexpected = Object.entries(others).filter(
    ([, status]) => status < 500 && !(status === 404 && saysNoItem.includes(name)),
  );
  expect(unexpected).toEqual([]);
  expect([200, 503]).toContain(deletion);
  expect((await service.readStored()).has(deleted.id)).toBe(false);
});

describe('a response of the counter alone', () => {
  test.each(names)('that is %s makes no list shorter', async (name) => {
    const service = await startFaultyService();
    const { table, proxy, ask } = service;
    await table.repository.create(emma);
    const fault = { bodyOf: bodies[name] as WrongResponse['bodyOf'], checksum: 'absent' } as const;
    proxy.disturb({ fault, operations: ['GetItem'] });

    expect((await ask('GET', '/books')).status).toBe(503);

    proxy.disturb({ fault, operations: ['GetItem'], attempts: 2 });
    const { status, envelope } = await ask('GET', '/books');
    expect(status).toBe(200);
    expect(envelope.data).toEqual([{ id: 1, ...emma }]);
  });
});
