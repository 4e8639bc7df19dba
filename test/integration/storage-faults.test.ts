import { expect, test } from 'vitest';
import { StorageUnavailableError } from '../../lib/dynamodb/connection/errors.ts';
import { startEngine } from '../simulators/engine.ts';
import { createBookTable, emma, listBooks } from '../support/book-table.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

test('an engine that is restarted at its address serves the same repository again', async () => {
  const path = await makeTemporaryFolder();
  const stopped = await startEngine(path);
  const { repository, client, tableName } = await createBookTable(stopped.endpoint);
  const created = await repository.create(emma);

  await stopped.stop();
  for (const request of [() => repository.get(created.id), () => repository.create(emma)]) {
    await expect(request()).rejects.toThrow(StorageUnavailableError);
  }
  const restarted = await startEngine(path, stopped.port);

  expect(await repository.get(created.id)).toEqual(created);
  expect(await listBooks({ client, tableName })).toEqual([created]);
  await restarted.stop();
});
