/**
 * `node .ci/add-field.ts`: adds a text and an integer to the table of fields in a copy of the project, as CONTRIBUTING.md
 * says, runs its checks and tests, and sends requests to it. Its catalog has a book from before.
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
const environment = { DB_PATH: join(folder, 'books') };
try {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of files.trim().split('\n')) cpSync(file, join(copy, file));
  for (const name of ['node_modules', 'tools/node_modules']) symlinkSync(resolve(name), join(copy, name));
  const table = join(copy, 'lib/books/book.ts');
  const before = readFileSync(table, 'utf8');
  writeFileSync(
    table,
    before.replace(/^ {2}author: .*$/m, (line) => line + lines),
  );
  assert.notEqual(readFileSync(table, 'utf8'), before);

  for (const script of ['api', 'check', 'test']) {
    console.log(`--- npm run ${script}`);
    execFileSync('npm', ['run', '--silent', script], { cwd: copy, stdio: 'inherit' });
  }

  console.log('--- requests');
  const old = await withService(undefined, (send) => send('POST', '/book', { title: 'Emma' }));
  await withService(copy, async (send) => {
    const key = { 'Idempotency-Key': 'once' };
    const dune = { title: 'Dune', author: '', isbn: '978-0-441-17271-9', pages: 412, year: 0 };
    const created = await send('POST', '/book', dune, key);
    const emma = { ...old.data, isbn: '', pages: 1 };
    assert.deepEqual(created, { status: 201, data: { id: 2, ...dune } });
    assert.deepEqual(await send('GET', '/book/1'), { status: 200, data: emma });
    for (const path of ['/books', '/books?limit=2']) {
      assert.deepEqual(await send('GET', path), { status: 200, data: [emma, created.data] });
    }
    const others = [{ isbn: '' }, { pages: 413 }];
    for (const other of others) {
      assert.equal((await send('POST', '/book', { ...dune, ...other }, key)).status, 422);
    }
    const tooLarge = { isbn: '9'.repeat(500 * 1024) };
    for (const [body, status] of [
      [tooLarge, 413],
      [{ isbn: 9 }, 400],
      [{ pages: 0 }, 400],
    ] as const) {
      assert.equal((await send('POST', '/book', body)).status, status);
      assert.equal((await send('PUT', '/book/1', body)).status, status);
    }
    const updated = await send('PUT', '/book/1', { pages: 474 });
    assert.deepEqual(updated, { status: 200, data: { ...emma, pages: 474 } });
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Send = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly data: object }>;

/** Starts the local service of a folder, this one by default. */
async function withService<Result>(of: string | undefined, use: (send: Send) => Promise<Result>) {
  const service = await LocalService.start(environment, of);
  try {
    return await use(async (method, path, body, headers) => {
      const response = await fetch(service.baseUrl + path, {
        method,
        headers: { Authorization: validToken, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const { data } = (await response.json()) as { readonly data: object };
      return { status: response.status, data };
    });
  } finally {
    await service.stop();
  }
}
