import { beforeEach, describe, expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import type { Fault } from '../../simulators/faulty-proxy.ts';
import { request } from '../../support/http-client.ts';
import { type FaultyService, startServiceForGroup } from './faulty-service.ts';

const emma = { title: 'Emma', author: 'Jane Austen', year: 1815 };

let service: FaultyService;
let before: Map<number, Book>;

const ask = (method: string, path: string, body?: object) =>
  request(service.baseUrl + path, {
    method,
    headers: service.headers,
    ...(body && { body: JSON.stringify(body) }),
  });

/** How many requests of an operation the engine got through the proxy while something ran. */
async function countRequests(operation: string, action: () => Promise<unknown>): Promise<number> {
  const earlier = service.proxy.countRequests(operation);
  await action();
  return service.proxy.countRequests(operation) - earlier;
}

const lostResponses: Fault[] = [
  'response lost',
  'response withheld',
  'response stalls',
  'response reset',
  'response altered',
];

describe.each(lostResponses)('a request that is carried out, and then: %s', (fault) => {
  const currentService = startServiceForGroup();

  beforeEach(async () => {
    service = currentService();
    before = await service.readStored();
  });

  describe.each([1, 2])('%i of its three attempts', (attempts) => {
    const loseResponses = (operation: string) => service.proxy.injectFault(operation, fault, attempts);

    test('create stores one book, although it is asked for more than once', async () => {
      loseResponses('PutItem');
      let created: Book | undefined;

      const puts = await countRequests('PutItem', async () => {
        const { envelope } = await ask('POST', '/book', emma);
        expect(envelope).toMatchObject({ status: 201, data: emma });
        created = envelope.data as Book;
      });

      expect(puts).toBe(attempts + 1);
      const stored = await service.readStored();
      expect(stored.size).toBe(before.size + 1);
      expect(stored.get(created?.id ?? 0)).toEqual(created);
    });

    test('the counter skips the ids whose responses were lost, and gives none of them again', async () => {
      const { data: earlier } = (await ask('POST', '/book', emma)).envelope;
      const { id: lastId } = earlier as Book;
      loseResponses('UpdateItem');

      const counted = await countRequests('UpdateItem', async () => {
        const { envelope } = await ask('POST', '/book', emma);
        expect(envelope.data).toEqual({ id: lastId + attempts + 1, ...emma });
      });

      expect(counted).toBe(attempts + 1);
      expect((await ask('POST', '/book', emma)).envelope.data).toMatchObject({ id: lastId + attempts + 2 });
      expect((await service.readStored()).size).toBe(before.size + 3);
    });

    test('update changes the book, and tells of it as it then is', async () => {
      const { id } = await service.repository.create(emma);
      loseResponses('UpdateItem');

      const updates = await countRequests('UpdateItem', async () => {
        const { envelope } = await ask('PUT', `/book/${id}`, { title: 'Persuasion' });
        expect(envelope).toMatchObject({ status: 200, data: { id, ...emma, title: 'Persuasion' } });
      });

      expect(updates).toBe(attempts + 1);
      expect((await service.readStored()).get(id)).toEqual({ id, ...emma, title: 'Persuasion' });
    });

    test('delete is done, and not "not found" because it was done', async () => {
      const { id } = await service.repository.create(emma);
      loseResponses('DeleteItem');

      const deletions = await countRequests('DeleteItem', async () => {
        const { envelope } = await ask('DELETE', `/book/${id}`);
        expect(envelope).toEqual({ status: 200, message: 'Book deleted successfully', data: null });
      });

      expect(deletions).toBe(attempts + 1);
      expect((await ask('GET', `/book/${id}`)).status).toBe(404);
    });
  });
});
