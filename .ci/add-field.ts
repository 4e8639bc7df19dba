/**
 * `node .ci/add-field.ts`: adds a text and an integer to the table of fields in a copy of the project, as CONTRIBUTING.md
 * says, runs its checks and tests, which try both fields, and requests a book that was stored before.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Catalog } from '../conformance/catalog.ts';
import { expectData } from '../conformance/expect.ts';
import { LocalService, testSettings } from '../tools/local/local-service.ts';

const lines = `
  isbn: { type: 'string', default: '' },
  pages: { type: 'integer', minimum: 1, maximum: 100_000, default: 1 },`;

const folder = mkdtempSync(join(tmpdir(), 'book-catalog-field-'));
const copy = join(folder, 'copy');
try {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of files.trim().split('\n')) {
    cpSync(file, join(copy, file));
  }
  for (const name of ['node_modules', 'tools/node_modules']) symlinkSync(resolve(name), join(copy, name));
  const table = join(copy, 'lib/books/book.ts');
  const before = readFileSync(table, 'utf8');
  const after = before.replace(/^ {2}author: .*$/m, (line) => line + lines);
  assert.notEqual(after, before);
  writeFileSync(table, after);

  for (const script of ['api', 'check', 'test']) {
    console.log(`--- npm run ${script}`);
    execFileSync('npm', ['run', '--silent', script], { cwd: copy, stdio: 'inherit' });
  }

  console.log('--- a book from before');
  const emma = await withService('.', (catalog) => catalog.createBook({ title: 'Emma' }));
  await withService(copy, async (catalog) => {
    const book = { ...emma, isbn: '', pages: 1 };
    await catalog.expectStored(book);
    for (const path of ['/books', '/books?limit=2']) {
      expectData(await catalog.call('GET', path), [book]);
    }
    const updated = await catalog.call('PUT', '/book/1', { pages: 474 });
    expectData(updated, { ...book, pages: 474 });
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Starts the local service of a folder, on the same books each time. Its openapi.yaml describes the responses. */
async function withService<Result>(of: string, use: (catalog: Catalog) => Promise<Result>) {
  const service = await LocalService.start({ DB_PATH: join(folder, 'books') }, of);
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  const suite = resolve(of, 'conformance');
  const { Session }: typeof import('../conformance/session.ts') = await import(`${suite}/session.ts`);
  const module: typeof import('../conformance/catalog.ts') = await import(`${suite}/catalog.ts`);
  try {
    return await use(new module.Catalog(new Session({ baseUrl: service.baseUrl, username, password })));
  } finally {
    await service.stop();
  }
}
