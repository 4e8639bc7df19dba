/**
 * `node .ci/add-field.ts`: adds the fields of CONTRIBUTING.md to the middle of the table of fields in a copy of the
 * project, as it says, and runs the checks and tests, which try the fields. Then it reads a book that was stored before,
 * and repeats its creation with the same idempotency key.
 */

import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import type { Book, Catalog } from '../conformance/catalog.ts';
import { expectData, expectSuccess } from '../conformance/expect.ts';
import { LocalService, testSettings } from '../test/support/local-service.ts';
import { linesOfContributing, ProjectCopy } from './project-copy.ts';

/** The lines of CONTRIBUTING.md, indented as in a table. */
const linesOf = (start: string) => linesOfContributing(start).replaceAll(/^(?=.)/gm, '  ');

/** In `bookFields`. The last two have names that tests and expressions of DynamoDB are tempted to use. */
const fieldLines = `${linesOf('\\w+: \\{ type: ')}  notes: { type: 'string', default: '' },\n  seen: { type: 'string', default: '' },\n`;

/** In rule 3.1 of the specification. */
const ruleLines = `${linesOf('- `\\w+`: ')}  - \`notes\`: a string, \`""\` by default.\n  - \`seen\`: a string, \`""\` by default.\n`;

const reserved = ['id', 'shard', 'writeToken', 'expiresAt'];

const creation = ['POST', '/book', { title: 'Emma', author: 'Jane Austen', year: 1815 }] as const;
const headers = { 'Idempotency-Key': 'once' };

const copy = new ProjectCopy();
try {
  console.log('--- reserved names');
  const table = copy.read('lib/books/book.ts');
  copy.edit(
    'lib/books/book.ts',
    /^ {2}author: .*\n/m,
    (line) => line + reserved.map((name) => `  ${name}: { type: 'integer', default: 0 },\n`).join(''),
  );
  const errors = copy.fail('npx', ['tsc', '--noEmit']);
  const author = table.slice(0, table.indexOf('  author: ')).split('\n').length;
  for (const [index, name] of reserved.entries()) {
    assert.ok(errors.includes(`book.ts(${author + 1 + index},3): error TS2322`), `${name} is not reserved`);
  }
  copy.write('lib/books/book.ts', table);

  assert.equal(fieldLines.match(/\n/g)?.length, ruleLines.match(/\n/g)?.length);
  copy.edit('lib/books/book.ts', /^ {2}author: .*\n/m, (line) => line + fieldLines);
  copy.run('api');
  console.log('--- a test names the lines that the specification lacks');
  const failures = copy.fail('npx', ['vitest', 'run', 'test/unit/documents/documents.test.ts']);
  for (const [, name] of fieldLines.matchAll(/^ {2}(\w+)/gm)) {
    assert.match(failures, new RegExp(`rule 3.1 of docs/specification.md does not say of ${name}: a line`));
  }
  copy.edit('docs/specification.md', /^ {2}- `author`: .*\n/m, (line) => line + ruleLines);
  copy.run('check');
  copy.run('test');

  console.log('--- a book from before');
  const emma = await withService('.', async (catalog) => expectSuccess(await catalog.call(...creation, headers)));
  await withService(copy.path, async (catalog) => {
    const added = { isbn: '', binding: 'unknown', pages: 1, inPrint: true, notes: '', seen: '' };
    const book = { ...(emma as Book), ...added };
    await catalog.expectStored(book);
    expectData(await catalog.call(...creation, headers), book);
    for (const path of ['/books', '/books?limit=2']) {
      expectData(await catalog.call('GET', path), [book]);
    }
    const changes = { isbn: '978-0-14-143958-7', binding: 'paperback', pages: 474, inPrint: false, seen: 'x' };
    expectData(await catalog.call('PUT', '/book/1', changes), { ...book, ...changes });
    expectData(await catalog.call('GET', '/books'), [{ ...book, ...changes }]);
  });
} finally {
  copy.remove();
}

/** Starts the local service of a folder, on the same books each time. Its openapi.yaml describes the responses. */
async function withService<Result>(of: string, use: (catalog: Catalog) => Promise<Result>) {
  const service = await LocalService.start({ DB_PATH: join(copy.folder, 'books') }, of);
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
