import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { authorize, LocalService } from '../../local/local-service.ts';
import { type Engine, startEngine } from '../../simulators/engine.ts';
import { type FaultyProxy, startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { type Books, connect, listBooks, openBooks, type TableAccess } from '../../support/book-table.ts';

/** The real service, in front of a real engine, with the faulty proxy between them. */
export interface FaultyService {
  readonly baseUrl: string;
  readonly headers: { readonly Authorization: string };
  readonly proxy: FaultyProxy;
  /** The books past the service and past the proxy. */
  readonly repository: Books;
  /** Reads what is stored, past the service and past the proxy. */
  readStored(): Promise<Map<number, Book>>;
  /** Everything that the service has written so far. */
  readonly output: string;
  stop(): Promise<void>;
}

/**
 * Gives the tests of a group a service of their own, and shows what it wrote when one of them fails. No group can use
 * up another's retries: the SDK stops sending again when it had to do so too often in a while.
 *
 * @returns the service, once the tests run
 */
export function startServiceForGroup(): () => FaultyService {
  let service: FaultyService;
  beforeAll(async () => {
    service = await startFaultyService();
  });
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.error(service.output);
  });
  afterAll(async () => {
    await service?.stop();
  });
  return () => service;
}

/** Starts engine, proxy and service. */
async function startFaultyService(): Promise<FaultyService> {
  const engine: Engine = await startEngine();
  const proxy = await startFaultyProxy(engine.endpoint);
  const service = await LocalService.start({ DB_URL: `${proxy.endpoint}/books` });
  const table: TableAccess = { client: connect(engine.endpoint), tableName: 'books' };
  return {
    baseUrl: service.baseUrl,
    headers: await authorize(service.baseUrl),
    proxy,
    repository: openBooks(table),
    readStored: async () => new Map((await listBooks(table)).map((book) => [book.id, book])),
    get output() {
      return service.output;
    },
    async stop() {
      await service.stop();
      await proxy.stop();
      await engine.stop();
    },
  };
}
