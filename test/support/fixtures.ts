import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { type Engine, provideEngine } from '../fakes/engine.ts';
import { type FaultyProxy, startFaultyProxy } from '../fakes/faulty-proxy.ts';
import { connect, createBookTable } from './book-table.ts';
import { type CapturedLog, captureLog } from './captured-log.ts';
import { loadHandlers } from './load-handlers.ts';
import { validToken } from './local-service.ts';

/**
 * Shares one engine between the tests of a file, each of which opens a table of its own.
 *
 * @param start - starts the engine; `startEngine` for tests that are about the embedded one
 */
export async function useTables(start: () => Promise<Engine> = provideEngine) {
  const { endpoint, stop } = await start();
  const proxies: FaultyProxy[] = [];
  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await stop();
  });
  const open = (start?: string) => createBookTable(endpoint, start);
  return {
    open,
    endpoint,
    /** Opens a table that is reached directly and through a proxy. */
    async openThroughProxy(options?: Parameters<typeof startFaultyProxy>[1]) {
      const [proxy, table] = await Promise.all([startFaultyProxy(endpoint, options), open()]);
      proxies.push(proxy);
      return { table, proxy, proxied: { client: connect(proxy.endpoint), tableName: table.tableName } };
    },
  };
}

/** A request: its body as text, or as a value that is sent as JSON; the token is added unless a test sends its own. */
type TestRequest = Omit<Partial<APIGatewayProxyEvent>, 'body' | 'headers'> &
  Readonly<{ body?: unknown; headers?: Readonly<Record<string, string>> }>;

/** Loads the functions once for the tests of a file, over a table that they share. The proxy in between heals after each. */
export async function useService() {
  const { openThroughProxy } = await useTables();
  const access = await openThroughProxy();
  /** Calls a function without a token. */
  const call = await loadHandlers(`${access.proxy.endpoint}/${access.table.tableName}`);
  let log: CapturedLog;
  beforeEach(() => {
    log = captureLog();
  });
  afterEach(() => access.proxy.heal());
  return {
    ...access,
    call,
    /** The log of the current test. */
    get log() {
      return log;
    },
    /** Calls a function with a valid token. */
    send(method: string, path: string, { headers, body = null, ...event }: TestRequest = {}) {
      return call(method, path, {
        headers: { Authorization: validToken, ...headers },
        body: body === null || typeof body === 'string' ? body : JSON.stringify(body),
        ...event,
      });
    },
  };
}
