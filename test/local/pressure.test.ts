import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { openRaw } from '../support/raw-http.ts';
import { useLocalService } from '../support/use-local-service.ts';

// Lists take their time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

/** A laptop has this memory beside an editor and a browser. */
const memoryLimitBytes = 700 * 2 ** 20;

const bookBytes = 300_000;
const books = 11;

const local = await useLocalService();
for (let year = 0; year < books; year += 1) await local.send('POST', '/book', { title: 'x'.repeat(bookBytes), year });

test('a client that reads whole lists one after another does not fill the memory', async () => {
  for (let round = 0; round < 100; round += 1) {
    const list = await fetch(`${local.baseUrl}/books`, { headers: local.headers });
    expect((await list.arrayBuffer()).byteLength).toBeGreaterThan(books * bookBytes);
  }

  expect(await readMemory()).toBeLessThan(memoryLimitBytes);
});

test('clients that disconnect during a list cost no memory', async () => {
  const readBeginning = async () => {
    const abort = new AbortController();
    const list = await fetch(`${local.baseUrl}/books`, { headers: local.headers, signal: abort.signal });
    await list.body?.getReader().read();
    abort.abort();
  };
  for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 5 }, readBeginning));

  expect(await readMemory()).toBeLessThan(memoryLimitBytes);
});

test('a client that leaves a list, or an upload, is one short line in the output', async () => {
  const reader = await openRaw(local.service.port, requestOf('GET /books'));
  reader.once('data', () => reader.destroy());
  const writer = await openRaw(local.service.port, requestOf('PUT /book/1', 'Content-Length: 9\r\n'));
  writer.destroy();

  await expect.poll(() => local.service.output).toMatch(/ GET \/books 200 not sent whole [\d.]+ ms /);
  await expect.poll(() => local.service.output).toMatch(/ PUT \/book\/1 the client disconnected [\d.]+ ms /);
  expect(local.service.output).not.toContain('ERROR');
});

test('clients that do not read their responses cost no memory, and others get theirs', async () => {
  const requests = requestOf('GET /book/1').repeat(20_000);
  const sockets = await Promise.all(Array.from({ length: 5 }, () => openRaw(local.service.port, requests)));
  for (const socket of sockets) socket.pause();

  for (let round = 0; round < 10; round += 1) expect((await local.send('GET', '/book/1')).status).toBe(200);
  expect(await readMemory()).toBeLessThan(memoryLimitBytes);

  for (const socket of sockets) socket.destroy();
});

function requestOf(line: string, headers = ''): string {
  const { Authorization } = local.headers;
  return `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${Authorization}\r\n${headers}\r\n`;
}

/** @returns the resident memory of the service, in bytes */
async function readMemory(): Promise<number> {
  const status = await readFile(`/proc/${local.service.processId}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
