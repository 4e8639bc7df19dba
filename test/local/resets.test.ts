import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openRaw } from '../support/raw-http.ts';
import { useLocalService } from '../support/use-local-service.ts';

/** Connections of each kind. One descriptor that stays open for each of them is noticed. */
const connections = 40;

const local = await useLocalService();
const { port, processId } = local.service;
const token = `Authorization: ${local.headers.Authorization}`;
// Larger than the buffers of a connection, so that a client can leave within the response.
for (let year = 0; year < 20; year += 1) await local.send('POST', '/book', { title: 'x'.repeat(300_000), year });

const head = (line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

const login = JSON.stringify({ username: 'a', password: 'b' });
const withBody = head('POST /token', `Content-Length: ${login.length}`);

const chunked = `${head('POST /token', 'Transfer-Encoding: chunked')}zz\r\n`;

const untilData = (socket: Socket) => once(socket, 'data');

test.each<[string, string, ((socket: Socket) => unknown)?]>([
  ['before its first byte', ''],
  ['within the head of a request', withBody.slice(0, 20)],
  ['before the body of a request', withBody],
  ['within the body of a request', withBody + login.slice(0, 10)],
  ['before the response', withBody + login],
  ['within the response', head('GET /books', token), untilData],
  ['after the response', withBody + login, untilData],
  ['behind pipelined requests', (withBody + login).repeat(50)],
  ['behind pipelined lists', head('GET /books', token).repeat(5), untilData],
  ['after a CONNECT', head('CONNECT localhost:80')],
  ['after an upgrade', head('GET /books', token, 'Connection: Upgrade', 'Upgrade: websocket')],
  ['after a malformed chunk', chunked],
])('clients that reset their connection %s leave the service as it was', async (_moment, bytes, until) => {
  const reset = async () => {
    const socket = await openRaw(port, bytes);
    await until?.(socket);
    socket.resetAndDestroy();
  };

  await expectNothingLeft(reset);
});

test.each([
  ['a response', head('GET /nowhere', 'Connection: close')],
  ['a CONNECT', head('CONNECT localhost:80')],
  ['malformed HTTP', chunked],
])('clients that keep their half of the connection open after %s leave no connection behind', async (_event, bytes) => {
  const clients: Socket[] = [];
  const leaveOpen = async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    clients.push(socket);
    socket.write(bytes);
    await once(socket.resume(), 'end');
  };

  await expectNothingLeft(leaveOpen);

  for (const socket of clients) socket.destroy();
});

/** Expects that the service goes on after many connections of one kind, and has no descriptors of them. */
async function expectNothingLeft(useConnection: () => Promise<void>): Promise<void> {
  // The first one may open connections to the database, which stay.
  await useConnection();
  expect((await local.send('GET', '/book/1')).status).toBe(200);
  const before = await countDescriptors();

  for (let count = 0; count < connections; count += 1) await useConnection();

  expect((await local.send('GET', '/book/1')).status).toBe(200);
  await expect.poll(countDescriptors, { timeout: 20_000 }).toBeLessThan(before + connections / 2);
}

async function countDescriptors(): Promise<number> {
  return (await readdir(`/proc/${processId}/fd`)).length;
}
