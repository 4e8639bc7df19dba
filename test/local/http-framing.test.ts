import { expect, test } from 'vitest';
import { exchangeRaw, openRaw } from '../support/raw-http.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService();
const { port } = local.service;
// Larger than the buffers of a connection, so that a client can leave within the response.
for (let year = 0; year < 20; year += 1) await local.send('POST', '/book', { title: 'x'.repeat(300_000), year });

const head = (line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

const list = head('GET /books', `Authorization: ${local.headers.Authorization}`);
const login = `${head('POST /token', 'Content-Length: 13')}{"username":`;

test.each([
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['a malformed chunk', `${head('POST /token', 'Transfer-Encoding: chunked')}zz\r\n`, 400],
  ['a length and chunks', head('POST /token', 'Content-Length: 4', 'Transfer-Encoding: chunked'), 400],
  ['a header of 20,000 characters', head('GET /books', `X: ${'x'.repeat(20_000)}`), 431],
  ['a CONNECT', head('CONNECT localhost:80'), undefined],
])('%s gets a response without an envelope, or a close (rule 1.5)', async (_kind, bytes, status) => {
  const response = await exchangeRaw(port, bytes);

  expect(response?.status).toBe(status);
  expect(response?.body ?? '').toBe('');
});

test('a client that leaves a list, or an upload, is one short line in the output', async () => {
  const reader = await openRaw(port, list);
  reader.once('data', () => reader.destroy());
  const writer = await openRaw(port, login);
  writer.destroy();

  await expect.poll(() => local.service.output).toMatch(/ GET \/books 200 not sent whole [\d.]+ ms /);
  await expect.poll(() => local.service.output).toMatch(/ POST \/token the client disconnected [\d.]+ ms /);
  // Its line is written after all those of the earlier ones.
  await local.send('GET', '/book/1');
  await expect.poll(() => local.service.output).toMatch(/ GET \/book\/1 200 [\d.]+ ms /);
  expect(local.service.output).not.toContain('ERROR');
});
