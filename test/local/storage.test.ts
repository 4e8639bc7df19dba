import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import dynalite from 'dynalite';
import { expect, test } from 'vitest';
import { request } from '../support/http-client.ts';
import { authorize, createDataFolder, LocalService } from './local-service.ts';

const run = promisify(execFile);

/** A book endpoint answers within this time even when its storage hangs. */
const answerLimitMs = 10_000;

/** Books that clients know of when the service is killed. */
const createsBeforeKill = 50;

const unavailable = { status: 503, message: 'Service unavailable', data: null };

const bookRequests: readonly (readonly [string, string, string | null])[] = [
  ['POST', '/book', '{"title":"Emma"}'],
  ['GET', '/books', null],
  ['GET', '/book/1', null],
  ['PUT', '/book/1', '{"year":1815}'],
  ['DELETE', '/book/1', null],
];

test('no acknowledged book is lost and no id is used twice when the service is killed while it creates', async () => {
  const dataFolder = await createDataFolder();
  const acknowledged: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const service = await LocalService.start({ DB_PATH: dataFolder });
    const headers = await authorize(service.baseUrl);
    const enough = acknowledged.length + createsBeforeKill;
    const clients = Array.from({ length: 10 }, () => createUntilRefused(service, headers, acknowledged));
    while (acknowledged.length < enough) await new Promise((done) => setTimeout(done, 10));
    await service.kill();
    await Promise.all(clients);
  }

  const service = await LocalService.start({ DB_PATH: dataFolder });
  const { envelope } = await request(`${service.baseUrl}/books`, {
    headers: await authorize(service.baseUrl),
  });
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });

  const stored = (envelope.data as { id: number }[]).map(({ id }) => id);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  expect(new Set(acknowledged).difference(new Set(stored))).toEqual(new Set());
  expect(stored).toEqual([...new Set(stored)].sort((a, b) => a - b));
});

test('book endpoints answer 503 while the storage is down, and recover without a restart', async () => {
  const dataFolder = await createDataFolder();
  const engine = await startEngine(dataFolder, 0);
  const { port } = engine.address() as AddressInfo;
  const service = await LocalService.start({ DB_URL: `http://127.0.0.1:${port}/books` });
  const headers = await authorize(service.baseUrl);

  await stopEngine(engine);
  for (const [method, path, body] of bookRequests) {
    const startedAt = performance.now();
    const response = await fetch(service.baseUrl + path, { method, headers, body });
    expect(await response.json(), `${method} ${path}`).toEqual(unavailable);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(performance.now() - startedAt).toBeLessThan(answerLimitMs);
  }

  const restarted = await startEngine(dataFolder, port);
  const answers = [];
  for (const [method, path, body] of bookRequests) {
    answers.push(
      (await request(service.baseUrl + path, { method, headers, ...(body !== null && { body }) })).status,
    );
  }
  await service.stop();
  await stopEngine(restarted);
  await rm(dataFolder, { recursive: true, force: true });
  expect(answers).toEqual([201, 200, 200, 200, 200]);
});

test('book endpoints answer 503 in time while the storage hangs', async () => {
  const dataFolder = await createDataFolder();
  const engine = await startEngine(dataFolder, 0);
  const { port } = engine.address() as AddressInfo;
  const service = await LocalService.start({ DB_URL: `http://127.0.0.1:${port}/books` });
  const headers = await authorize(service.baseUrl);
  await stopEngine(engine);
  const sockets: Socket[] = [];
  const hanging = createServer((socket) => {
    // Attempts that are given up end with a reset.
    socket.on('error', () => {});
    sockets.push(socket);
  }).listen(port, '127.0.0.1');
  await once(hanging, 'listening');

  const answers = await Promise.all(
    bookRequests.map(async ([method, path, body]) => {
      const startedAt = performance.now();
      const { envelope } = await request(service.baseUrl + path, {
        method,
        headers,
        ...(body !== null && { body }),
      });
      return { envelope, inTime: performance.now() - startedAt < answerLimitMs };
    }),
  );

  await service.stop();
  for (const socket of sockets) socket.destroy();
  hanging.close();
  await rm(dataFolder, { recursive: true, force: true });
  expect(answers).toEqual(bookRequests.map(() => ({ envelope: unavailable, inTime: true })));
});

// LevelDB recovers nothing of its log behind a record that was written in part.
test('a disk that is full is a 503 until there is space, and no acknowledged book is lost', async () => {
  const dataFolder = await createDataFolder();
  const service = await LocalService.start({ DB_PATH: dataFolder });
  const headers = await authorize(service.baseUrl);
  const create = () =>
    request(`${service.baseUrl}/book`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ title: 'x'.repeat(3000) }),
    });
  const acknowledged: unknown[] = [];
  for (let book = 0; book < 5; book += 1) acknowledged.push((await create()).envelope.data);

  await limitFileSize(service, '1024:');
  const refused = await Promise.all(Array.from({ length: 5 }, create));
  await limitFileSize(service, 'unlimited:');
  const deadline = Date.now() + answerLimitMs;
  let created = await create();
  while (created.status === 503 && Date.now() < deadline) created = await create();
  acknowledged.push(created.envelope.data);
  await service.kill();
  const restarted = await LocalService.start({ DB_PATH: dataFolder });
  const { envelope } = await request(`${restarted.baseUrl}/books`, {
    headers: await authorize(restarted.baseUrl),
  });
  await restarted.stop();
  await rm(dataFolder, { recursive: true, force: true });

  expect(refused.map((answer) => answer.envelope)).toEqual(Array(5).fill(unavailable));
  expect(created.status).toBe(201);
  expect(envelope.data).toEqual(acknowledged);
  expect(service.output).toContain(
    `The data folder ${dataFolder} cannot be used: there is no space left on its disk`,
  );
});

/** Has writes of the service fail as on a full disk: a file then grows up to a limit, in bytes, and no further. */
async function limitFileSize({ processId }: LocalService, limit: string): Promise<void> {
  await run('prlimit', ['--pid', String(processId), `--fsize=${limit}`]);
}

async function createUntilRefused(
  { baseUrl }: LocalService,
  headers: Record<string, string>,
  acknowledged: number[],
): Promise<void> {
  for (;;) {
    try {
      const { envelope } = await request(`${baseUrl}/book`, { method: 'POST', headers, body: '{}' });
      acknowledged.push((envelope.data as { id: number }).id);
    } catch {
      return;
    }
  }
}

async function startEngine(path: string, port: number): Promise<Server> {
  const engine = dynalite({ path, createTableMs: 0 }).listen(port, '127.0.0.1');
  await once(engine, 'listening');
  return engine;
}

async function stopEngine(engine: Server): Promise<void> {
  const closed = new Promise((done) => engine.close(done));
  engine.closeAllConnections();
  await closed;
}
