import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { request } from '../../conformance/http-client.ts';
import { LocalService, validToken } from '../../test/support/local-service.ts';
import { quantile, readCpuMs } from './measure.ts';

/** The first rounds let V8 optimize. */
const warmUpRounds = 10;
const rounds = 10;
/** Requests of each kind in a round, one after the other. */
const requestsPerRound = 10;

interface Response {
  readonly status: number;
  readonly etag: string;
  readonly id: number;
}

/** What the requests of a round are about: a book, its version before the last, a deleted one, and new ones. */
interface Books {
  readonly id: number;
  readonly oldTag: string;
  readonly deletedId: number;
  readonly newIds: number[];
  readonly usedKey: string;
}

type Send = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Response>;

const book = { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', year: 1969 };
const noId = Number.MAX_SAFE_INTEGER;

/** Each kind of request, with its status: every success, and every refusal that a write of the database decides. */
const kinds: readonly [name: string, status: number, make: (send: Send, books: Books) => Promise<Response>][] = [
  ['GET', 200, (send, { id }) => send('GET', `/book/${id}`)],
  ['PUT', 200, (send, { id }) => send('PUT', `/book/${id}`, { year: Date.now() % 2_000 })],
  ['PUT of no book', 404, (send) => send('PUT', `/book/${noId}`, book)],
  ['PUT of a deleted book', 404, (send, { deletedId }) => send('PUT', `/book/${deletedId}`, book)],
  ['PUT of another version', 412, (send, { id, oldTag }) => send('PUT', `/book/${id}`, book, { 'If-Match': oldTag })],
  ['DELETE', 200, (send, { newIds }) => send('DELETE', `/book/${newIds.pop()}`)],
  ['DELETE of no book', 404, (send) => send('DELETE', `/book/${noId}`)],
  ['DELETE of a deleted book', 404, (send, { deletedId }) => send('DELETE', `/book/${deletedId}`)],
  [
    'DELETE of another version',
    412,
    (send, { id, oldTag }) => send('DELETE', `/book/${id}`, undefined, { 'If-Match': oldTag }),
  ],
  ['POST', 201, (send) => send('POST', '/book', book)],
  ['POST with a key', 201, (send) => send('POST', '/book', book, { 'Idempotency-Key': crypto.randomUUID() })],
  ['POST again', 201, (send, { usedKey }) => send('POST', '/book', book, { 'Idempotency-Key': usedKey })],
  ['POST with a used key', 422, (send, { usedKey }) => send('POST', '/book', {}, { 'Idempotency-Key': usedKey })],
];

/**
 * Measures the local service, one request after the other. Prints a table in Markdown with medians: the time of a
 * request, and the CPU time of all threads, the engine's included.
 *
 * @param folder - another checkout
 */
export async function measureLocalService(folder?: string): Promise<void> {
  const service = await LocalService.start({}, folder);
  try {
    spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', '1', String(service.processId)]);
    const send: Send = async (method, path, body, headers = {}) => {
      const content = body && { body: JSON.stringify(body) };
      const response = await request(service.baseUrl + path, {
        method,
        headers: { Authorization: validToken, ...headers },
        ...content,
      });
      const { id = 0 } = (response.envelope.data ?? {}) as { id?: number };
      return { status: response.status, etag: String(response.headers.etag), id };
    };
    const samples = kinds.map((): { times: number[]; cpuMs: number }[] => []);
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      const books = await prepare(send);
      for (const [index, [name, status, make]] of kinds.entries()) {
        const cpuMs = readCpuMs(service.processId);
        const times: number[] = [];
        for (let count = 0; count < requestsPerRound; count += 1) {
          const startedAt = performance.now();
          const response = await make(send, books);
          times.push(performance.now() - startedAt);
          assert.equal(response.status, status, name);
        }
        if (round >= 0) samples[index]?.push({ times, cpuMs: readCpuMs(service.processId) - cpuMs });
      }
    }
    console.log('| | Status | Time (ms) | CPU (ms) |\n|---|--:|--:|--:|');
    for (const [index, [name, status]] of kinds.entries()) {
      const ofKind = samples[index] ?? [];
      const timeMs = quantile(
        ofKind.flatMap(({ times }) => times),
        0.5,
      );
      const cpuMs =
        quantile(
          ofKind.map((sample) => sample.cpuMs),
          0.5,
        ) / requestsPerRound;
      console.log(`| ${name} | ${status} | ${timeMs.toFixed(1)} | ${cpuMs.toFixed(1)} |`);
    }
  } finally {
    await service.stop();
  }
}

async function prepare(send: Send): Promise<Books> {
  const usedKey = crypto.randomUUID();
  const { id, etag: oldTag } = await send('POST', '/book', book, { 'Idempotency-Key': usedKey });
  await send('PUT', `/book/${id}`, { year: 1 });
  const { id: deletedId } = await send('POST', '/book', book);
  await send('DELETE', `/book/${deletedId}`);
  const newIds: number[] = [];
  while (newIds.length < requestsPerRound) newIds.push((await send('POST', '/book', book)).id);
  return { id, oldTag, deletedId, newIds, usedKey };
}
