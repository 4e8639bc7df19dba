import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import { inParallel } from '../../../conformance/in-parallel.ts';
import type { Book } from '../../../lib/books/book.ts';
import { startEngine } from '../../simulators/engine.ts';
import { type Fault, type FaultyProxy, faults, startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { loopbackCertificate } from '../../simulators/loopback-certificate.ts';
import { type BookTable, createBookTable, listBooks } from '../../support/book-table.ts';
import { captureLog } from '../../support/captured-log.ts';
import { validToken } from '../../support/fixtures.ts';
import { type Call, loadHandlers } from '../../support/load-handlers.ts';

/** The functions in this process, with the faulty proxy between them and an engine. */
export interface FaultyService {
  readonly proxy: FaultyProxy;
  /** The table past the proxy. */
  readonly table: BookTable;
  /** Sends a request with a token; an object as its body becomes JSON. */
  ask(method: string, path: string, body?: object, headers?: Record<string, string>): ReturnType<Call>;
  /** Reads the books past the proxy, by id. */
  readStored(): Promise<Map<number, Book>>;
}

/** The timeouts of the functions in serverless.yml, in milliseconds; GET /books has more and does not need it. */
const timeoutsMs: Record<string, number> = { POST: 28_000, PUT: 20_000, GET: 10_000, DELETE: 20_000 };

/**
 * Starts the functions, the proxy and the table of the current test.
 *
 * @param options - `isTls`: the functions reach the proxy over HTTPS; `withoutChecksums`: the engine sends none
 */
export async function startFaultyService(
  options: { readonly isTls?: boolean; readonly withoutChecksums?: boolean } = {},
): Promise<FaultyService> {
  captureLog();
  const engine = await startEngine();
  if (options.isTls) setDefaultCACertificates([...rootCertificates, loopbackCertificate.cert]);
  const proxy = await startFaultyProxy(engine.endpoint, options);
  onTestFinished(async () => {
    await proxy.stop();
    await engine.stop();
  });
  const table = await createBookTable(engine.endpoint);
  const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
  return {
    proxy,
    table,
    ask: async (method, path, body, headers = {}) => {
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      const timeoutMs = timeoutsMs[method] ?? 0;
      const event = {
        headers: { Authorization: validToken, ...headers },
        queryStringParameters: Object.fromEntries(searchParams),
        body: body ? JSON.stringify(body) : null,
      };
      const startedAt = performance.now();
      const response = await call(method, pathname, event, timeoutMs);
      expect(performance.now() - startedAt, `${method} ${path} in time`).toBeLessThan(timeoutMs);
      return response;
    },
    readStored: async () => new Map((await listBooks(table)).map((book) => [book.id, book])),
  };
}

/**
 * Runs a check under every fault, each with its own service, concurrently: most of the time passes in timeouts.
 *
 * @param options - `servicesAtOnce`: fewer for a check that needs much CPU time; `isTls`: over HTTPS
 */
export async function underEveryFault(
  check: (service: FaultyService, fault: Fault) => Promise<void>,
  { servicesAtOnce = 16, isTls = false } = {},
): Promise<void> {
  const services: [Fault, FaultyService][] = [];
  // In sequence, because a function reads the environment while it loads.
  for (const fault of Object.keys(faults) as Fault[])
    services.push([fault, await startFaultyService({ isTls })]);
  const failures: Record<string, string> = {};
  await inParallel(services.length, servicesAtOnce, async (index) => {
    const [fault, service] = services[index] as (typeof services)[number];
    await check(service, fault).catch((error: Error) => {
      failures[fault] = error.stack ?? error.message;
    });
  });
  expect(failures).toEqual({});
}
