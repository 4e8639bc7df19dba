import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import pLimit from 'p-limit';
import { expect, onTestFinished } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { startEngine } from '../../simulators/engine.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { loopbackCertificate } from '../../simulators/loopback-certificate.ts';
import { type BookTable, createBookTable, listBooks, setCounter } from '../../support/book-table.ts';
import { captureLog } from '../../support/captured-log.ts';
import { validToken } from '../../support/fixtures.ts';
import { type Call, loadHandlers } from '../../support/load-handlers.ts';

/** A service with the faulty proxy between its functions and an engine. */
export interface FaultyService {
  readonly proxy: FaultyProxy;
  /** The table past the proxy. */
  readonly table: BookTable;
  /** Sends a request with a token; an object as its body becomes JSON. */
  ask(method: string, path: string, body?: object, headers?: Record<string, string>): ReturnType<Call>;
  /** Reads the books past the proxy, by id. */
  readStored(): Promise<Map<number, Book>>;
}

type Options = Readonly<{ isTls?: boolean; withoutChecksums?: boolean }>;

/** Starts the functions on an endpoint and table. @returns what sends a request to them */
type StartFunctions = (databaseUrl: string) => Promise<Call>;

/** The timeouts of the functions in serverless.yml, in milliseconds. That of a list allows for slow clients. */
const timeoutsMs: Record<string, number> = { POST: 28_000, PUT: 20_000, GET: 10_000, DELETE: 20_000 };
const listTimeoutMs = 28_000;

/** What a busy machine adds to a time. */
const lagMs = 5_000;

/** The next books are in the fourth shard, so that a list opens several connections. */
const idsBefore = 30_000;

/**
 * Starts the functions, the proxy and the table of the current test.
 *
 * @param options - `isTls`: the functions reach the proxy over HTTPS; `withoutChecksums`: the engine sends none
 * @param startFunctions - by default in this process
 */
export async function startFaultyService(
  options: Options = {},
  startFunctions: StartFunctions = loadHandlers,
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
  await setCounter(table, idsBefore);
  const call = await startFunctions(`${proxy.endpoint}/${table.tableName}`);
  return {
    proxy,
    table,
    ask: async (method, path, body, headers = {}) => {
      const { pathname, searchParams } = new URL(path, 'http://localhost');
      const timeoutMs = pathname === '/books' ? listTimeoutMs : (timeoutsMs[method] ?? 0);
      const event = {
        headers: { Authorization: validToken, ...headers },
        queryStringParameters: Object.fromEntries(searchParams),
        body: body ? JSON.stringify(body) : null,
      };
      const startedAt = performance.now();
      const response = await call(method, pathname, event, timeoutMs);
      expect(performance.now() - startedAt, `${method} ${path} in time`).toBeLessThan(timeoutMs + lagMs);
      return response;
    },
    readStored: async () => new Map((await listBooks(table)).map((book) => [book.id, book])),
  };
}

/** Each needs the processor. */
const quickAtOnce = 2;

/** Faults whose time passes in timeouts. */
export function isSlow(fault: Fault): boolean {
  return /^(request (held|ignored)|silent|slow)/.test(fault);
}

/**
 * Runs a check under each of some faults, under several slow ones at once.
 *
 * @param start - starts a service for one check after the other
 * @returns the failures by fault
 */
export async function underEveryFault<Service>(
  faults: readonly Fault[],
  start: () => Promise<Service>,
  check: (service: Service, fault: Fault) => Promise<void>,
): Promise<Record<string, string>> {
  const failures: Record<string, string> = {};
  // In sequence, because a function reads the environment while it loads.
  const starting = pLimit(1);
  const run = async (some: readonly Fault[]) => {
    const service = await starting(start);
    for (const fault of some) {
      await check(service, fault).catch((error: Error) => {
        failures[fault] = error.stack ?? error.message;
      });
    }
  };
  const lanes = faults.filter(isSlow).map((fault) => [fault]);
  const quick = Object.values(
    Object.groupBy(
      faults.filter((fault) => !isSlow(fault)),
      (_, index) => index % quickAtOnce,
    ),
  );
  await Promise.all([...lanes, ...quick].map((some = []) => run(some)));
  return failures;
}
