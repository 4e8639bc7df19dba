import { once } from 'node:events';
import { expect, test } from 'vitest';
import { exchangeRaw, openRaw } from '../support/raw-http.ts';
import { startStubGateway } from '../support/stub-gateway.ts';

const requestOf = (line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

test('clients that pipeline requests and read nothing delay another one by a few of their requests', async () => {
  const busyClients = 5;
  const served: Record<string, number> = { '/busy': 0, '/other': 0 };
  const port = await startStubGateway('GET', async ({ path }) => {
    served[path] = Number(served[path]) + 1;
    return { statusCode: 200, body: 'x'.repeat(100) };
  });
  const other = await openRaw(port, '');
  const pipeline = requestOf('GET /busy').repeat(20_000);
  const sockets = await Promise.all(Array.from({ length: busyClients }, () => openRaw(port, pipeline)));
  for (const socket of sockets) socket.pause();
  await expect.poll(() => served['/busy']).toBeGreaterThan(0);

  const delays: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const before = Number(served['/busy']);
    other.write(requestOf('GET /other'));
    await once(other, 'data');
    delays.push(Number(served['/busy']) - before);
  }

  // One request of each connection in a turn of the event loop. The other request and its response take two turns.
  expect(Math.max(...delays)).toBeLessThanOrEqual(4 * busyClients);
  for (const socket of sockets) socket.destroy();
});

test('requests that wait behind another one are not carried out after their client has left', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let served = 0;
  const port = await startStubGateway('GET', async () => {
    served += 1;
    begin();
    await left;
    return { statusCode: 200, body: '' };
  });
  const client = await openRaw(port, requestOf('GET /first').repeat(10));
  await begun;
  client.resetAndDestroy();
  // One after the other on this connection, so that the server has noticed before.
  leave();
  await exchangeRaw(port, requestOf('GET /last', 'Connection: close'));

  expect(served).toBe(2);
});

const megabyte = 1024 * 1024;

test.each([
  ['POST /book', 11, 413],
  ['POST /no/book', 5, 404],
  ['POST /%zz', 5, 400],
])(
  'a client that sends a body to %s, %i MB and "Connection: close" gets a %i after its last byte',
  async (line, size, status) => {
    const port = await startStubGateway('POST', async () => ({ statusCode: 200, body: '' }));
    const socket = await openRaw(port, requestOf(line, 'Connection: close', `Content-Length: ${size * megabyte}`));
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    const responses: Buffer[] = [];
    socket.on('data', (chunk) => responses.push(chunk));

    const sent = new Promise((resolve) => socket.write(Buffer.alloc(size * megabyte), resolve));
    await Promise.all([sent, once(socket, 'close')]);

    expect(errors).toEqual([]);
    expect(Buffer.concat(responses).toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  },
);

test.each([
  ['a header of 5 MB', requestOf('GET /book', `X: ${'x'.repeat(5 * megabyte)}`)],
  ['5 MB that are not HTTP', ' '.repeat(5 * megabyte)],
])('a client that sends %s gets a 400 after its last byte', async (_fault, bytes) => {
  const port = await startStubGateway('GET', async () => ({ statusCode: 200, body: '' }));
  const socket = await openRaw(port, '');
  const errors: Error[] = [];
  socket.on('error', (error) => errors.push(error));
  const responses: Buffer[] = [];
  socket.on('data', (chunk) => responses.push(chunk));

  socket.end(bytes);
  await once(socket, 'close');

  expect(errors).toEqual([]);
  expect(Buffer.concat(responses).toString()).toMatch(/^HTTP\/1.1 400 /);
});

test('a client that has ended its half of the connection gets its responses', async () => {
  const port = await startStubGateway('GET', async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { statusCode: 200, body: 'late' };
  });

  const responses = await exchangeRaw(port, requestOf('GET /book').repeat(2), { end: true });

  expect(responses.map(({ body }) => body)).toEqual(['late', 'late']);
});
