import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LocalService, validToken } from '../support/local-service.ts';
import { openRaw } from '../support/raw-http.ts';
import { useLocalService } from '../support/use-local-service.ts';

/** File descriptors of the service: those of a thousand connections, and some for its files. */
const descriptors = 1_300;

/** LevelDB begins other files after about 4 MB. */
const books = 80;
const body = JSON.stringify({ title: 'x'.repeat(300_000) });

const local = await useLocalService();
const { port, processId } = local.service;
await promisify(execFile)('prlimit', ['--pid', String(processId), `--nofile=${descriptors}:${descriptors}`]);

const head = [
  'POST /book HTTP/1.1',
  'Host: localhost',
  `Authorization: ${validToken}`,
  `Content-Length: ${body.length}`,
];
const creates = `${head.join('\r\n')}\r\n\r\n${body}`.repeat(books);

const createBook = () =>
  local.send('POST', '/book', {}).then(
    ({ status }) => status,
    ({ code }) => code,
  );

// LevelDB that once could not open a file refuses all writes until it is started again.
test.each([
  ['the service', async () => port],
  ['its engine', findEnginePort],
])('idle connections to %s, as many as there can be, end no write for good', async (_server, findPort) => {
  expect(await createBook()).toBe(201);
  const client = await openRaw(port, '');
  let received = '';
  client.on('data', (chunk) => {
    received += chunk;
  });
  const target = await findPort();
  const idle = await Promise.all(Array.from({ length: descriptors }, () => openRaw(target, '')));

  client.write(creates);
  await expect.poll(() => received.match(/HTTP\/1.1 (201|503)/g), { timeout: 60_000 }).toHaveLength(books);
  for (const socket of [client, ...idle]) socket.destroy();

  await expect.poll(createBook, { timeout: 20_000 }).toBe(201);
});

test('the first connection above the limit is logged, and no other one', async () => {
  const service = await LocalService.start();
  const connections = await Promise.all(Array.from({ length: 1_003 }, () => openRaw(service.port, '')));
  for (const connection of connections) connection.resume();
  await expect.poll(() => connections.filter(({ destroyed }) => destroyed), { timeout: 20_000 }).toHaveLength(3);

  const { output } = await service.stop();
  for (const connection of connections) connection.destroy();

  expect(output.match(/ WARN .* 1,000 .*/g)).toHaveLength(1);
});

/** @returns the other port on which the process listens */
async function findEnginePort(): Promise<number> {
  const folder = `/proc/${processId}`;
  const names = await readdir(`${folder}/fd`);
  const files = await Promise.all(names.map((name) => readlink(`${folder}/fd/${name}`).catch(() => '')));
  const sockets = (await readFile(`${folder}/net/tcp`, 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const own = sockets.filter(([, , , state, , , , , , inode]) => state === '0A' && files.includes(`socket:[${inode}]`));
  const ports = own.map(([, address = '']) => Number.parseInt(address.split(':')[1] ?? '', 16));
  return ports.find((each) => each !== port) ?? expect.unreachable('the engine listens nowhere');
}
