import type { TableLocation } from '../../lib/dynamodb/table-url.ts';
import { diagnoseDataFolder, prepareDataFolder } from './data-folder.ts';
import { EmbeddedEngine } from './embedded-engine.ts';
import type { LocalConfig } from './local-config.ts';
import { prepareTable } from './prepare-table.ts';
import { StartError } from './start-error.ts';

/**
 * Starts the embedded engine, or connects to the database that DB_URL names, and prepares the table. `onFailure` gets a
 * sentence for people when the embedded engine fails later.
 *
 * @returns the value of DB_URL, and where the books are, for people
 * @throws {StartError} when the database cannot be used
 */
export function startStorage({ table, dataFolder }: LocalConfig, onFailure: (problem: string) => void) {
  return table === undefined ? startEmbeddedStorage(dataFolder, onFailure) : useConfiguredStorage(table);
}

async function startEmbeddedStorage(folder: string, onFailure: (problem: string) => void) {
  let engine: EmbeddedEngine | undefined;
  let started = false;
  try {
    await prepareDataFolder(folder);
    engine = await EmbeddedEngine.start(folder, (error) => {
      if (started) onFailure(diagnoseDataFolder(folder, error));
    });
    const table = { endpoint: engine.endpoint, region: 'us-east-1', tableName: 'books' };
    await prepareTable(table);
    started = true;
    return { url: urlOf(table), description: `the folder ${folder}` };
  } catch (error) {
    // The client of the table knows only that the engine does not respond.
    const cause = engine?.failure ?? error;
    throw new StartError(diagnoseDataFolder(folder, cause), { cause });
  }
}

async function useConfiguredStorage(table: TableLocation) {
  try {
    await prepareTable(table);
    return { url: urlOf(table), description: `the table ${table.tableName} at ${table.endpoint}` };
  } catch (cause) {
    const problem = `The table that DB_URL names cannot be used: ${(cause as Error).message}.`;
    const advice = `Make sure that a DynamoDB engine responds at ${table.endpoint}`;
    throw new StartError(`${problem} ${advice}, or unset DB_URL to use the embedded engine.`, { cause });
  }
}

function urlOf({ endpoint, tableName }: TableLocation): string {
  return `${endpoint}/${tableName}`;
}
