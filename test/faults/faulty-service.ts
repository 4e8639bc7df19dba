import type { Book } from '../../lib/books/book.ts';
import { BookRepository } from '../../lib/books/book-repository.ts';
import { authorize } from '../e2e/http.ts';
import { LocalService } from '../e2e/local-service.ts';
import { connect, listBooks, type TableAccess } from '../support/book-table.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts';

/** The real service, in front of a real engine, with the faulty proxy between them. */
export interface FaultyService {
  readonly baseUrl: string;
  readonly headers: { readonly Authorization: string };
  readonly proxy: FaultyProxy;
  /** The books past the service and past the proxy. */
  readonly repository: BookRepository;
  /** Reads what is stored, past the service and past the proxy. */
  readStored(): Promise<Map<number, Book>>;
  stop(): Promise<void>;
}

/** Starts engine, proxy and service. */
export async function startFaultyService(): Promise<FaultyService> {
  const engine: Engine = await startEngine();
  const proxy = await startFaultyProxy(engine.endpoint);
  const service = await LocalService.start({ DB_URL: `${proxy.endpoint}/books` });
  const table: TableAccess = { client: connect(engine.endpoint), tableName: 'books' };
  return {
    baseUrl: service.baseUrl,
    headers: await authorize(service.baseUrl),
    proxy,
    repository: new BookRepository(table.client, table.tableName),
    readStored: async () => new Map((await listBooks(table)).map((book) => [book.id, book])),
    async stop() {
      await service.stop();
      await proxy.stop();
      await engine.stop();
    },
  };
}
