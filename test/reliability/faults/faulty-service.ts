import { randomUUID } from 'node:crypto';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import pLimit from 'p-limit';
import { expect, onTestFinished } from 'vitest';
import { checkResponse } from '../../../conformance/contract/check-response.ts';
import type { Envelope } from '../../../conformance/http-client.ts';
import { functions } from '../../../serverless/functions.ts';
import { startEngine } from '../../fakes/engine.ts';
import type { Fault } from '../../fakes/faults.ts';
import { type FaultyProxy, startFaultyProxy } from '../../fakes/faulty-proxy.ts';
import { loopbackCertificate } from '../../fakes/loopback-certificate.ts';
import { type BookTable, createBookTable, setCounter } from '../../support/book-table.ts';
import { captureLog } from '../../support/captured-log.ts';
import { loadHandlers } from '../../support/load-handlers.ts';
import { validToken } from '../../support/local-service.ts';
import type { Ask } from '../record.ts';

/** A service with the faulty proxy between its functions and an engine. */
export interface FaultyService {
  readonly proxy: FaultyProxy;
  /** The table past the proxy. */
  readonly table: BookTable;
  readonly ask: Ask;
}

type Options = Readonly<{ isTls?: boolean }>;

/** Starts the functions on an endpoint and table. @returns what sends a request to them, `undefined` if its time is over */
type StartFunctions = (databaseUrl: string) => Promise<Send>;
type Send = (
  method: string,
  path: string,
  request: { readonly headers: Record<string, string>; readonly body?: string },
) => Promise<FunctionResponse | undefined>;
type FunctionResponse = { readonly status: number; readonly headers?: object | undefined; readonly envelope: Envelope };

/** The timeout of a function in serverless.yml, in milliseconds. That of a list allows for slow clients. */
function timeoutOf(method: string, path: string): number {
  if (path.startsWith('/books')) return 28_000;
  const isRight = ({ event }: (typeof functions)[number]) => event.method === method && /^\/book\b/.test(event.path);
  return 1_000 * (functions.find(isRight)?.timeout ?? 0);
}

/** What a busy machine may add to the time of a function, and to that of the response at its end. */
const lagMs = 5_000;

const tickMs = 100;

/**
 * Starts a clock that stands still while the process waits for a busy machine: a late tick counts as one.
 *
 * @returns what stops it, and returns the milliseconds
 */
function startClock(): () => number {
  let takenMs = 0;
  const timer = setInterval(() => {
    takenMs += tickMs;
  }, tickMs);
  return () => {
    clearInterval(timer);
    return takenMs;
  };
}

/** Loads the functions, which have the time of those in serverless.yml. */
const loadFunctions: StartFunctions = async (databaseUrl) => {
  const call = await loadHandlers(databaseUrl);
  return async (method, path, request) => {
    const timeoutMs = timeoutOf(method, path);
    const stopClock = startClock();
    const response = await call(method, path, request, timeoutMs + lagMs).finally(stopClock);
    const takenMs = stopClock();
    expect(takenMs, `${method} ${path} in time`).toBeLessThan(timeoutMs + 2 * lagMs);
    return takenMs > timeoutMs ? undefined : response;
  };
};

/** The next books are in the fourth shard, so that a list opens several connections. */
const idsBefore = 30_000;

/**
 * Starts the functions, the proxy and the table of the current test.
 *
 * @param options - `isTls`: the functions reach the proxy over HTTPS
 * @param startFunctions - by default in this process
 */
export async function startFaultyService(
  options: Options = {},
  startFunctions = loadFunctions,
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
  const send = await startFunctions(`${proxy.endpoint}/${table.tableName}`);
  return {
    proxy,
    table,
    ask: async (method, path, body, headers) => {
      const content = body && { body: JSON.stringify(body) };
      const response = await send(method, path, { headers: { Authorization: validToken, ...headers }, ...content });
      // The service's own 503 at the end of its time.
      if (response === undefined) return { status: 503, headers: new Headers(), envelope: { data: null } };
      const received = new Headers(response.headers as Record<string, string>);
      // API Gateway adds it.
      received.set('x-amzn-RequestId', randomUUID());
      checkResponse({
        request: { method, path },
        status: response.status,
        headers: Object.fromEntries(received),
        body: Buffer.from(JSON.stringify(response.envelope)),
      });
      return { status: response.status, headers: received, envelope: response.envelope };
    },
  };
}

/** Each needs the processor. */
const quickAtOnce = 2;

/**
 * Runs a check under each of some faults, under several slow ones at once.
 *
 * @param start - starts a service for one check after the other
 * @throws an error that names each fault with what was wrong under it
 */
export async function underEveryFault<Service>(
  faults: readonly Fault[],
  start: () => Promise<Service>,
  check: (service: Service, fault: Fault) => Promise<void>,
): Promise<void> {
  const failures: string[] = [];
  // In sequence, because a function reads the environment while it loads.
  const starting = pLimit(1);
  const run = async (some: readonly Fault[]) => {
    const service = await starting(start);
    for (const fault of some) {
      await check(service, fault).catch((error: Error) => {
        failures.push(`${fault.name}: ${describeError(error)}`);
      });
    }
  };
  const lanes = Object.groupBy(faults, (fault, index) => (fault.isSlow ? fault.name : `${index % quickAtOnce}`));
  await Promise.all(Object.values(lanes).map((some = []) => run(some)));
  if (failures.length === 0) return;
  throw new Error(`${failures.length} of ${faults.length} faults have consequences:\n${failures.join('\n')}`);
}

/** Describes an error with the lines of its stack that are ours. */
function describeError({ message, stack = '' }: Error): string {
  const lines = stack.split('\n').filter((line) => /^ +at /.test(line) && !/node_modules|node:/.test(line));
  return [message, ...lines].join('\n');
}
