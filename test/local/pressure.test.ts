import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../support/http-client.ts';
import { openRaw } from '../support/raw-http.ts';
import { authorize, createDataFolder, LocalService } from './local-service.ts';

/** A laptop has room for that beside an editor and a browser. */
const memoryLimitBytes = 700 * 2 ** 20;

/** Lists take their time on a busy machine. */
const timeLimitMs = 180_000;

/** What a client may notice of others on a busy machine. */
const latencyLimitMs = 5_000;

const listBytes = 3 * 2 ** 20;
const bookBytes = 300_000;

let service: LocalService;
let dataFolder: string;
let headers: { Authorization: string };

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({ DB_PATH: dataFolder });
  headers = await authorize(service.baseUrl);
  for (let bytes = 0; bytes < listBytes; bytes += bookBytes) {
    const body = JSON.stringify({ title: 'x'.repeat(bookBytes) });
    expect((await request(`${service.baseUrl}/book`, { method: 'POST', headers, body })).status).toBe(201);
  }
});

afterAll(async () => {
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

test(
  'a client that reads whole lists one after another does not fill the memory',
  async () => {
    for (let round = 0; round < 100; round += 1) {
      const list = await fetch(`${service.baseUrl}/books`, { headers });
      expect((await list.arrayBuffer()).byteLength).toBeGreaterThan(listBytes);
    }

    expect(await readMemory(service.processId)).toBeLessThan(memoryLimitBytes);
  },
  timeLimitMs,
);

test(
  'clients that hang up in the middle of a list fill neither the memory nor the time of others',
  async () => {
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 5 }, async () => {
          const abort = new AbortController();
          const list = await fetch(`${service.baseUrl}/books`, { headers, signal: abort.signal });
          await list.body?.getReader().read();
          abort.abort();
        }),
      );
    }

    expect(await readMemory(service.processId)).toBeLessThan(memoryLimitBytes);
    expect(await timeRequest()).toBeLessThan(latencyLimitMs);
  },
  timeLimitMs,
);

test('clients that send requests without reading the responses hold up nobody else', async () => {
  const requests =
    `GET /book/1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.Authorization}\r\n\r\n`.repeat(20_000);
  const sockets = await Promise.all(Array.from({ length: 5 }, () => openRaw(service.port, requests)));
  try {
    for (const socket of sockets) socket.pause();
    for (let round = 0; round < 10; round += 1) expect(await timeRequest()).toBeLessThan(latencyLimitMs);
    expect(await readMemory(service.processId)).toBeLessThan(memoryLimitBytes);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

async function timeRequest(): Promise<number> {
  const startedAt = performance.now();
  expect((await request(`${service.baseUrl}/book/1`, { headers })).status).toBe(200);
  return performance.now() - startedAt;
}

/** @returns the memory of a process that is in RAM, in bytes */
async function readMemory(processId: number): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
