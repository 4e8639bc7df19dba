import { mkdir } from 'node:fs/promises';
import type { TableLocation } from '../lib/dynamodb/table-url.ts';
import { startEmbeddedEngine } from './embedded-engine.ts';
import type { LocalConfig } from './local-config.ts';
import { prepareTable } from './prepare-table.ts';
import { StartError } from './start-error.ts';

/** A database that is ready for books. */
export interface Storage {
  /** The DB_URL of the table. */
  readonly url: string;
  /** Where the books are, for people. */
  readonly description: string;
}

/**
 * Gets the database ready: the one that DB_URL names, or else the embedded engine.
 *
 * @param config - the local configuration
 * @throws {StartError} when the database cannot be used
 */
export async function startStorage({ table, dataFolder }: LocalConfig): Promise<Storage> {
  return table === undefined ? startEmbeddedStorage(dataFolder) : useConfiguredStorage(table);
}

async function startEmbeddedStorage(dataFolder: string): Promise<Storage> {
  try {
    await mkdir(dataFolder, { recursive: true });
    const endpoint = await startEmbeddedEngine(dataFolder);
    const table = { endpoint, region: 'us-east-1', tableName: 'books' };
    await prepareTable(table);
    return { url: urlOf(table), description: `the folder ${dataFolder}` };
  } catch (cause) {
    throw new StartError(
      `The data folder ${dataFolder} cannot be opened (${(cause as Error).message}). Most likely the service is ` +
        'running already and has it open: stop the other one, or name another folder in DB_PATH.',
      { cause },
    );
  }
}

async function useConfiguredStorage(table: TableLocation): Promise<Storage> {
  try {
    await prepareTable(table);
    return { url: urlOf(table), description: `the table ${table.tableName} at ${table.endpoint}` };
  } catch (cause) {
    throw new StartError(
      `The table that DB_URL names cannot be used: ${(cause as Error).message}. Make sure that a DynamoDB engine ` +
        `answers at ${table.endpoint}, or unset DB_URL: the service then brings its own engine.`,
      { cause },
    );
  }
}

function urlOf({ endpoint, tableName }: TableLocation): string {
  return `${endpoint}/${tableName}`;
}
