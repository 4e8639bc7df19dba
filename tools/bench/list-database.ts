import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineProcess } from '../../test/simulators/engine.ts';
import { createBookTable, seedBooks } from '../../test/support/book-table.ts';
import { startServer } from './server-process.ts';

/** A database that holds some books, on the core of the bench. */
export interface ListDatabase {
  /** DB_URL */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a stub that makes the books when they are asked for, so that the time is the function's.
 *
 * @param bookCount - how many books there are
 */
export async function startStub(bookCount: number): Promise<ListDatabase> {
  const { endpoint, stop } = await startServer(join(import.meta.dirname, 'stub-list.ts'), [
    String(bookCount),
  ]);
  return { url: `${endpoint}/books`, stop };
}

/**
 * Starts dynalite and stores the books there, which takes minutes for a million. Its pages come much slower than
 * DynamoDB's, so that the whole answer takes its time and not the function's.
 *
 * @param bookCount - how many books there are
 */
export async function startDynalite(bookCount: number): Promise<ListDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-bench-'));
  const engine = await EngineProcess.start(folder);
  const table = await createBookTable(`http://127.0.0.1:${engine.port}`);
  await seedBooks(table, bookCount);
  return {
    url: table.url,
    async stop() {
      await engine.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
