/**
 * `node .ci/add-field.ts`: adds a field of each kind to the middle of the table of fields in a copy of the project, as
 * CONTRIBUTING.md says, and runs its checks and tests, which try the fields. Then it reads a book that was stored before, and
 * repeats its creation with the same idempotency key.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Book, Catalog } from '../conformance/catalog.ts';
import { expectData, expectSuccess } from '../conformance/expect.ts';
import { LocalService, testSettings } from '../test/support/local-service.ts';

const lines = `
  isbn: { type: 'string', default: '' },
  pages: { type: 'integer', minimum: 1, maximum: 100_000, default: 1 },
  inPrint: { type: 'boolean', default: true },`;

const creation = ['POST', '/book', { title: 'Emma', author: 'Jane Austen', year: 1815 }] as const;
const headers = { 'Idempotency-Key': 'once' };

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
  const specification = join(copy, 'docs/specification.md');
  const rules = readFileSync(specification, 'utf8');
  writeFileSync(specification, rules.replaceAll('`author`', '`author`, `isbn`, `pages`, `inPrint`'));

  for (const script of ['api', 'check', 'test']) {
    console.log(`--- npm run ${script}`);
    execFileSync('npm', ['run', '--silent', script], { cwd: copy, stdio: 'inherit' });
  }

  console.log('--- a book from before');
  const emma = await withService('.', async (catalog) => expectSuccess(await catalog.call(...creation, headers)));
  await withService(copy, async (catalog) => {
    const book = { ...(emma as Book), isbn: '', pages: 1, inPrint: true };
    await catalog.expectStored(book);
    expectData(await catalog.call(...creation, headers), book);
    for (const path of ['/books', '/books?limit=2']) {
      expectData(await catalog.call('GET', path), [book]);
    }
    const changes = { isbn: '978-0-14-143958-7', pages: 474, inPrint: false };
    expectData(await catalog.call('PUT', '/book/1', changes), { ...book, ...changes });
    expectData(await catalog.call('GET', '/books'), [{ ...book, ...changes }]);
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
