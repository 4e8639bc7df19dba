/**
 * `node .ci/add-field.ts`: adds a text and an integer to the table of fields in a copy of the project, as CONTRIBUTING.md
 * says, runs its checks and tests, which try both fields, and requests a book that was stored before.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LocalService, validToken } from '../tools/local/local-service.ts';

const lines = `
  isbn: { type: 'string', default: '' },
  pages: { type: 'integer', minimum: 1, maximum: 100_000, default: 1 },`;

const folder = mkdtempSync(join(tmpdir(), 'book-catalog-field-'));
const copy = join(folder, 'copy');
try {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of files.trim().split('\n')) cpSync(file, join(copy, file));
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
  const { data: emma } = await withService('.', (send) => send('POST', '/book', { title: 'Emma' }));
  await withService(copy, async (send) => {
    const book = { ...emma, isbn: '', pages: 1 };
    assert.deepEqual(await send('GET', '/book/1'), { status: 200, data: book });
    for (const path of ['/books', '/books?limit=2']) {
      assert.deepEqual(await send('GET', path), { status: 200, data: [book] });
    }
    const updated = await send('PUT', '/book/1', { pages: 474 });
    assert.deepEqual(updated, { status: 200, data: { ...book, pages: 474 } });
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Send = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly data: object }>;

/** Starts the local service of a folder. */
async function withService<Result>(of: string, use: (send: Send) => Promise<Result>) {
  const service = await LocalService.start({ DB_PATH: join(folder, 'books') }, of);
  try {
    return await use(async (method, path, body) => {
      const headers = { Authorization: validToken };
      const response = await fetch(service.baseUrl + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      const { data } = (await response.json()) as { readonly data: object };
      return { status: response.status, data };
    });
  } finally {
    await service.stop();
  }
}
