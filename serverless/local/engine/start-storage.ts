import type { TableLocation } from '../../../lib/dynamodb/connection/client.ts';
import type { LocalConfig } from '../local-config.ts';
import { StartError } from '../start-error.ts';
import { explainDataFolder, prepareDataFolder } from './data-folder.ts';
import { startEmbeddedEngine } from './embedded-engine.ts';
import { prepareTable } from './prepare-table.ts';

/**
 * Starts the embedded engine, or connects to the database that DB_URL names, and prepares the table. The environment of
 * this process then has the credentials of that database, unless it is AWS's.
 *
 * @param warn - gets a text for people when the embedded engine fails later. Requests for books then get 503.
 * @returns the value of DB_URL for the functions, and where the books are, for people
 * @throws {StartError} when the database cannot be used
 */
export function startStorage(
  { table, dataFolder }: Pick<LocalConfig, 'table' | 'dataFolder'>,
  warn: (problem: string) => void,
) {
  return table === undefined ? startEmbeddedStorage(dataFolder, warn) : useConfiguredStorage(table);
}

async function startEmbeddedStorage(folder: string, warn: (problem: string) => void) {
  let failure: Error | undefined;
  let started = false;
  try {
    await prepareDataFolder(folder);
    const { endpoint, accessKeyId } = await startEmbeddedEngine(folder, (error) => {
      failure = error;
      if (started) warn(`${explainDataFolder(folder, error)} Then start the service again.`);
    });
    process.env.AWS_ACCESS_KEY_ID = accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = 'not checked';
    delete process.env.AWS_SESSION_TOKEN;
    const table = { endpoint, region: 'us-east-1', tableName: 'books' };
    await prepareTable(table);
    started = true;
    return { url: `${endpoint}/${table.tableName}`, description: `the folder ${folder}` };
  } catch (error) {
    // The client of the table would report only that the engine does not respond.
    const cause = failure ?? (error as Error);
    throw new StartError(explainDataFolder(folder, cause), { cause });
  }
}

async function useConfiguredStorage(table: TableLocation) {
  const { endpoint, tableName } = table;
  try {
    await prepareTable(table);
    return { url: `${endpoint}/${tableName}`, description: `the table ${tableName} at ${endpoint}` };
  } catch (cause) {
    const reason = (cause as Error).message.replace(/\.$/, '');
    const advice = reason.includes('CredentialsProviderError')
      ? 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment'
      : `Make sure that a DynamoDB engine with this table responds at ${endpoint}`;
    const problem = `The table that DB_URL names cannot be used: ${reason}.`;
    throw new StartError(`${problem} ${advice}, or unset DB_URL to use the embedded engine.`, { cause });
  }
}
