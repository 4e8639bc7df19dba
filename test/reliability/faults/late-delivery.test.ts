import { describe, expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { startFaultyHandlers } from './faulty-handlers.ts';

const emma = { title: 'Emma', author: 'Jane Austen', year: 1815 };

describe.each([
  ['HTTP', false],
  ['HTTPS', true],
])('a request over %s that is given up while it is on its way', (_scheme, isTls) => {
  test('undoes no later update when the network gives it back', async () => {
    const { proxy, table, ask, readStored } = await startFaultyHandlers({ isTls });
    const { id } = await table.repository.create(emma);
    proxy.injectFault('UpdateItem', 'request held', 1);

    // One client, one request after the other.
    expect((await ask('PUT', `/book/${id}`, { title: 'first' })).status).toBe(200);
    expect((await ask('PUT', `/book/${id}`, { title: 'second' })).status).toBe(200);
    const { envelope } = await ask('PUT', `/book/${id}`, { title: 'third' });
    const delivered = await proxy.deliverHeld();

    expect((await readStored()).get(id)).toEqual({ id, ...emma, title: 'third' });
    expect(envelope.data).toEqual({ id, ...emma, title: 'third' });
    expect(delivered).toBe(0);
  });

  test('brings no deleted book back when the network gives it back', async () => {
    const { proxy, ask, readStored } = await startFaultyHandlers({ isTls });
    proxy.injectFault('PutItem', 'request held', 1);

    const { status, envelope } = await ask('POST', '/book', emma);
    expect(status).toBe(201);
    const { id } = envelope.data as Book;
    expect((await ask('DELETE', `/book/${id}`)).status).toBe(200);
    const delivered = await proxy.deliverHeld();

    expect(await readStored()).toEqual(new Map());
    expect((await ask('GET', `/book/${id}`)).status).toBe(404);
    expect(delivered).toBe(0);
  });

  test('is not carried out after the client was told that it failed', async () => {
    const { proxy, table, ask, readStored } = await startFaultyHandlers({ isTls });
    const { id } = await table.repository.create(emma);
    proxy.disturb({ fault: 'request held' });

    const responses = await Promise.all([
      ask('PUT', `/book/${id}`, { title: 'too late' }),
      ask('DELETE', `/book/${id}`),
      ask('POST', '/book', emma),
    ]);
    const delivered = await proxy.deliverHeld();

    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503]);
    expect(await readStored()).toEqual(new Map([[id, { id, ...emma }]]));
    expect(delivered).toBe(0);
  });
});
