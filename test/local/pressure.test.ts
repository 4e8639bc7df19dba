import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { openRaw } from '../support/raw-http.ts';
import { useLocalService } from './use-local-service.ts';

/** A laptop has this memory beside an editor and a browser. */
const memoryLimitBytes = 700 * 2 ** 20;

/** Lists take their time on a busy machine. */
const timeLimitMs = 180_000;

/** The latency of a client beside the others, on a busy machine. */
const latencyLimitMs = 5_000;

const bookBytes = 300_000;
const books = 11;

const local = useLocalService();

beforeAll(async () => {
  for (let year = 0; year < books; year += 1) {
    const { status } = await local.send('POST', '/book', { title: 'x'.repeat(bookBytes), year });
    expect(status).toBe(201);
  }
});

test('a client that reads whole lists one after another does not fill the memory', {
  timeout: timeLimitMs,
}, async () => {
  for (let round = 0; round < 100; round += 1) {
    const list = await fetch(`${local.baseUrl}/books`, { headers: local.headers });
    expect((await list.arrayBuffer()).byteLength).toBeGreaterThan(books * bookBytes);
  }

  expect(await readMemory()).toBeLessThan(memoryLimitBytes);
});

test('clients that disconnect during a list cost neither memory nor time', {
  timeout: timeLimitMs,
}, async () => {
  for (let round = 0; round < 20; round += 1) {
    const clients = Array.from({ length: 5 }, async () => {
      const abort = new AbortController();
      const list = await fetch(`${local.baseUrl}/books`, { headers: local.headers, signal: abort.signal });
      await list.body?.getReader().read();
      abort.abort();
    });
    await Promise.all(clients);
  }

  expect(await readMemory()).toBeLessThan(memoryLimitBytes);
  expect(await timeRequest()).toBeLessThan(latencyLimitMs);
});

test('clients that do not read their responses block nobody else', async () => {
  const request = `GET /book/1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${local.headers.Authorization}\r\n\r\n`;
  const requests = request.repeat(20_000);
  const sockets = await Promise.all(Array.from({ length: 5 }, () => openRaw(local.service.port, requests)));
  try {
    for (const socket of sockets) socket.pause();
    for (let round = 0; round < 10; round += 1) expect(await timeRequest()).toBeLessThan(latencyLimitMs);
    expect(await readMemory()).toBeLessThan(memoryLimitBytes);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

async function timeRequest(): Promise<number> {
  const startedAt = performance.now();
  expect((await local.send('GET', '/book/1')).status).toBe(200);
  return performance.now() - startedAt;
}

/** @returns the resident memory of the service, in bytes */
async function readMemory(): Promise<number> {
  const status = await readFile(`/proc/${local.service.processId}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
