import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { operations } from '../../conformance/contract/description.ts';
import { defaultCredentials, LocalService } from '../local/local-service.ts';

/** The part of newman's summary that is looked at here. */
interface Summary {
  readonly run: {
    readonly executions: readonly { item: { name: string }; response?: { code: number } }[];
    readonly failures: readonly { error: Error }[];
  };
}

/** The status of each request that succeeds, by the summary of its operation. */
const statuses: Readonly<Record<string, number>> = Object.fromEntries(
  operations.map(({ summary, responses }) => [summary, Number(Object.keys(responses)[0])]),
);

/**
 * Sends the requests of the Postman collection with newman to a local service of its own: as they are, then
 * with all headers that are switched off in the file.
 *
 * @throws an Error when a script fails or a status is not the expected one
 */
export async function testPostmanCollection(collection: string): Promise<void> {
  const service = await LocalService.start(defaultCredentials);
  try {
    assert.deepEqual(await sendAll(JSON.parse(collection), service.baseUrl), statuses);
    const withHeaders = JSON.parse(collection, enableHeaders);
    assert.deepEqual(await sendAll(withHeaders, service.baseUrl), { ...statuses, 'Fetch a book': 304 });
  } finally {
    await service.stop();
  }
}

async function sendAll(collection: object, baseUrl: string): Promise<Record<string, number | undefined>> {
  const newman = createRequire(import.meta.url)('newman');
  const envVar = [{ key: 'baseUrl', value: baseUrl }];
  const { run }: Summary = await promisify(newman.run)({ collection, envVar });
  for (const { error } of run.failures) throw error;
  return Object.fromEntries(run.executions.map(({ item, response }) => [item.name, response?.code]));
}

/** A reviver of JSON. */
function enableHeaders(key: string, value: unknown): unknown {
  return key === 'header' ? (value as object[]).map((header) => ({ ...header, disabled: false })) : value;
}
