import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { exchangeRaw, openRaw } from '../support/raw-http.ts';
import { useLocalService } from '../support/use-local-service.ts';

/** Connections of each kind. One descriptor that stays open for each of them is noticed. */
const connections = 40;

const local = await useLocalService();
const { port, processId } = local.service;
// Larger than the buffers of a connection, so that a client can leave within the response.
for (let year = 0; year < 20; year += 1) await local.send('POST', '/book', { title: 'x'.repeat(300_000), year });

const head = (line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

const list = head('GET /books', `Authorization: ${local.headers.Authorization}`);
const login = `${head('POST /token', 'Content-Length: 13')}{"username":`;
const malformedChunk = `${head('POST /token', 'Transfer-Encoding: chunked')}zz\r\n`;
const tunnel = head('CONNECT localhost:80');

test.each([
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
  ['a malformed chunk', malformedChunk, [400]],
  ['a length and chunks', head('POST /token', 'Content-Length: 4', 'Transfer-Encoding: chunked'), [400]],
  ['a header of 20,000 characters', head('GET /books', `X: ${'x'.repeat(20_000)}`), [431]],
  ['a CONNECT', tunnel, []],
])('%s gets a response without an envelope, or a close (rule 1.5)', async (_kind, bytes, statuses) => {
  const responses = await exchangeRaw(port, bytes);

  expect(responses.map(({ status }) => status)).toEqual(statuses);
  expect(responses.map(({ body }) => body).join('')).toBe('');
});

test.each<[string, string, boolean?]>([
  ['within the body of a request', login],
  ['within the response', list, true],
  ['behind pipelined requests', `${login}1}`.repeat(50)],
  ['after a CONNECT', tunnel],
  ['after an upgrade', head('GET /books', 'Connection: Upgrade', 'Upgrade: websocket')],
  ['after a malformed chunk', malformedChunk],
])('clients that reset their connection %s leave the service as it was', async (_moment, bytes, awaitsData) => {
  const reset = async () => {
    const socket = await openRaw(port, bytes);
    if (awaitsData) await once(socket, 'data');
    socket.resetAndDestroy();
  };

  await expectNothingLeft(reset);
});

test.each([
  ['a response', head('GET /nowhere', 'Connection: close')],
  ['a CONNECT', tunnel],
  ['malformed HTTP', malformedChunk],
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

test('a client that leaves a list, or an upload, is one short line in the output', async () => {
  const reader = await openRaw(port, list);
  reader.once('data', () => reader.destroy());
  const writer = await openRaw(port, login);
  writer.destroy();

  await expect.poll(() => local.service.output).toMatch(/ GET \/books 200 not sent whole [\d.]+ ms /);
  await expect.poll(() => local.service.output).toMatch(/ POST \/token the client disconnected [\d.]+ ms /);
  expect(local.service.output).not.toContain('ERROR');
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
