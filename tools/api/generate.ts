/**
 * `npm run api`: writes everything that is generated from the sources of the service: a part of openapi.yaml, and from
 * that the files in tools/client/. With `--check` it writes nothing, lints openapi.yaml, fails when a file is not current, and
 * sends the requests of the Postman collection to a local service.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GeneratedFile, makeClientFiles, makeDescription } from './generated-files.ts';
import { projectFolder, runTool } from './run-tool.ts';
import { testPostmanCollection } from './test-postman-collection.ts';

if (process.argv.includes('--check')) {
  await runTool('redocly', ['lint', 'openapi.yaml', '--config', 'tools/api/redocly.yaml']);
  for (const file of [await makeDescription(), ...(await makeClientFiles())]) await checkFile(file);
  await testPostmanCollection();
  console.log('the requests of the Postman collection succeed, sent by newman');
} else {
  await writeText(await makeDescription());
  for (const file of await makeClientFiles()) await writeText(file);
}

async function checkFile({ path, text }: GeneratedFile): Promise<void> {
  const current = (await readFile(join(projectFolder, path), 'utf8')) === text;
  console.log(`${path} is ${current ? 'current' : 'NOT current: run `npm run api`'}`);
  if (!current) process.exitCode = 1;
}

async function writeText({ path, text }: GeneratedFile): Promise<void> {
  await writeFile(join(projectFolder, path), text);
  console.log(`wrote ${path}`);
}
