import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDataFolder, LocalService } from '../../test/local/local-service.ts';
import { projectFolder } from './run-tool.ts';

interface Collection {
  readonly item: readonly { readonly item: readonly { readonly request: { readonly header: object[] } }[] }[];
}

/** The part of newman's summary that is looked at here. */
interface Summary {
  readonly run: {
    readonly executions: readonly {
      readonly item: { readonly name: string };
      readonly response?: { readonly code: number };
    }[];
    readonly failures: readonly { readonly error: Error }[];
  };
}

const statuses = {
  'Log in': 200,
  'Create a book': 201,
  'List all books, or a page of them': 200,
  'Fetch a book': 200,
  'Change some fields of a book': 200,
  'Delete a book': 200,
};

/**
 * Sends the requests of the Postman collection with newman to a local service of its own: as they are, then
 * with all headers that are switched off in the file.
 *
 * @throws an Error when a script fails or a status is not the expected one
 */
export async function testPostmanCollection(): Promise<void> {
  const file = join(projectFolder, 'tools/client/book-catalog.postman_collection.json');
  const dataFolder = await createDataFolder();
  const service = await LocalService.start({
    DB_PATH: dataFolder,
    AUTH_USERNAME: 'admin',
    AUTH_PASSWORD: 'password',
  });
  try {
    const collection = JSON.parse(await readFile(file, 'utf8'));
    assert.deepEqual(await sendAll(collection, service.baseUrl), statuses);
    enableHeaders(collection);
    const conditional = { ...statuses, 'Fetch a book': 304 };
    assert.deepEqual(await sendAll(collection, service.baseUrl), conditional);
  } finally {
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}

async function sendAll(collection: Collection, baseUrl: string): Promise<Record<string, number | undefined>> {
  const newman = createRequire(import.meta.url)('newman');
  const { run }: Summary = await promisify(newman.run)({
    collection,
    envVar: [{ key: 'baseUrl', value: baseUrl }],
  });
  for (const { error } of run.failures) throw error;
  return Object.fromEntries(run.executions.map(({ item, response }) => [item.name, response?.code]));
}

function enableHeaders({ item }: Collection): void {
  const headers = item.flatMap((folder) => folder.item).flatMap(({ request }) => request.header);
  for (const header of headers) Object.assign(header, { disabled: false });
}
