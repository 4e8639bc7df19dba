/**
 * `npm run api`: writes the files that are generated from the sources of the service: a part of openapi.yaml, and from
 * that the files in tools/client/. With `--check` it writes nothing, lints openapi.yaml, fails when a file is not current, and
 * sends the requests of the Postman collection to a local service.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readDescription } from './description.ts';
import { makePostmanCollection, projectFolder, runTool } from './postman-collection.ts';
import { testPostmanCollection } from './test-postman-collection.ts';

const isCheck = process.argv.includes('--check');

if (isCheck)
  await runTool(
    'redocly',
    ['lint', '../../openapi.yaml', '--extends', 'recommended-strict'],
    import.meta.dirname,
  );
await finish('openapi.yaml', (await readDescription()).current);
// A default is what the service takes for a member that is left out, so that it may be left out.
const options = ['--default-non-nullable', 'false', '--immutable'];
await finish('tools/client/types.ts', await runTool('openapi-typescript', ['openapi.yaml', ...options]));
await finish('tools/client/book-catalog.postman_collection.json', await makePostmanCollection());
if (isCheck) await testPostmanCollection();

/** Writes a file, or checks that it is current. */
async function finish(path: string, text: string): Promise<void> {
  const file = join(projectFolder, path);
  if (!isCheck) return writeFile(file, text);
  const isCurrent = (await readFile(file, 'utf8')) === text;
  console.log(`${path} is ${isCurrent ? 'current' : 'NOT current: run `npm run api`'}`);
  if (!isCurrent) process.exitCode = 1;
}
