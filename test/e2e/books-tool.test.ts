import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { forgeToken } from '../conformance/forged-token.ts';
import { anyText } from '../support/any-text.ts';
import { EngineProcess } from '../support/engine-process.ts';
import { BooksCommand, countCreated, runBooks, waitForCreated } from './books-command.ts';
import { answer, type Fate, FaultyGateway } from './faulty-gateway.ts';
import { authorize, request } from './http.ts';
import { LocalService, testSettings } from './local-service.ts';

/** With `BOOKS_TOOL_ROWS=10000` it takes a minute. */
const rowCount = Number(process.env.BOOKS_TOOL_ROWS ?? 600);

/** An import of many rows on a busy machine. */
const longTestMs = 60_000 + rowCount * 60;

let folder: string;
/** In a process of its own: in this one, requests that it was carrying out when it stopped would be uncaught errors. */
let engine: EngineProcess;
let service: LocalService;

/** The highest id of the tests before. */
let lastId = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'books-tool-'));
  engine = await EngineProcess.start(join(folder, 'engine'));
  service = await LocalService.start({ DB_URL: `http://127.0.0.1:${engine.port}/books` });
});

afterEach(async () => {
  lastId = (await listBooks()).at(-1)?.id ?? lastId;
});

afterAll(async () => {
  await service.stop();
  await engine.kill();
  await rm(folder, { recursive: true, force: true });
});

describe('an export', { timeout: longTestMs }, () => {
  test('holds any text so that an import of it gives the same books', async () => {
    const books = fc.sample(fc.record({ title: anyText, author: anyText, year: fc.maxSafeInteger() }), {
      numRuns: 150,
      seed: 7,
    });
    const odd = [' a', 'a ', '\r', '\n', '\r\n', '"', ',', '=1+1', '\ufeff', '', '\0', '\u2028'];
    books.push(...odd.map((text) => ({ title: text, author: text, year: -0 + 1 })));
    const file = join(folder, 'books.ndjson');
    await writeFile(file, books.map((book) => `${JSON.stringify(book)}\n`).join(''));
    await runImport(file, service.baseUrl, ['--parallel', '1']);
    expect((await listBooks()).map(toFields)).toEqual(books);

    for (const format of ['csv', 'ndjson']) {
      const before = (await listBooks()).length;
      const exported = join(folder, `exported-${format}.${format}`);
      expect((await runBooks(['export', exported, '--base-url', service.baseUrl])).exitCode).toBe(0);
      await runImport(exported, service.baseUrl, ['--parallel', '1']);
      const stored = (await listBooks()).map(toFields);
      expect(stored).toHaveLength(before * 2);
      expect(stored.slice(before)).toEqual(stored.slice(0, before));
    }
  });

  test('goes to standard output without a file, in the order of ids', async () => {
    await runImport(await writeCsv(createBooks(3)), service.baseUrl, ['--parallel', '1']);
    const { output } = await runBooks(['export', '--format', 'csv', '--base-url', service.baseUrl]);
    const rows = [0, 1, 2].map((index) => `${lastId + 1 + index},"Book ${index}","Author",${index}\n`);
    expect(output).toMatch(/^"id","title","author","year"\n/);
    expect(output).toContain(rows.join(''));
  });

  test('asks again for a page that was not answered, and leaves no file when it fails', async () => {
    const books = createBooks(30);
    await runImport(await writeCsv(books));
    let faults = 2;
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (!name.startsWith('GET /books?limit=1000')) return 'pass';
      faults -= 1;
      if (faults < 0) return 'pass';
      return faults === 0 ? 'lose answer' : answer(503, 'Service unavailable', { 'Retry-After': '1' });
    });
    const exported = join(folder, 'retried.ndjson');
    const ids = (await listBooks({ after: 0 })).map(({ id }) => id);

    const { exitCode } = await runBooks(['export', exported, '--base-url', proxy.baseUrl]);
    expect(exitCode).toBe(0);
    const lines = (await readFile(exported, 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids);

    faults = Number.POSITIVE_INFINITY;
    const failed = join(folder, 'failed.csv');
    const failure = await runBooks(['export', failed, '--base-url', proxy.baseUrl, '--give-up-after', '1']);
    await proxy.stop();
    expect(failure.exitCode).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith('failed'))).toEqual([]);
  });
});

describe('an import', { timeout: longTestMs }, () => {
  test('that is killed twice and called again creates each book once', async () => {
    // Every third row is the same as others.
    const books = createBooks(rowCount, (index) => (index % 3 === 0 ? 'The same' : `Book ${index}`));
    const file = await writeCsv(books);
    for (const share of [0.3, 0.6]) {
      const command = new BooksCommand(['import', file, '--base-url', service.baseUrl, '--settle', '1']);
      await waitForCreated(`${file}.journal`, rowCount * share);
      await command.end('SIGKILL');
    }
    expect(await countCreated(`${file}.journal`)).toBeLessThan(rowCount);

    const { exitCode, output } = await runImport(file);

    expect(output).toContain('created before');
    expect(exitCode).toBe(0);
    const exported = join(folder, 'exported.ndjson');
    await runBooks(['export', exported, '--base-url', service.baseUrl]);
    const text = await readFile(exported, 'utf8');
    const stored = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Book)
      .filter(({ id }) => id > lastId);
    expect(stored).toHaveLength(rowCount);
    expect(sortFields(stored)).toEqual(sortFields(books));
  });

  test('whose answers get lost after the books were created creates each book once', async () => {
    const books = createBooks(60, (index) => `Book ${index % 7}`);
    let posts = 0;
    const lost: Fate[] = [];
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name !== 'POST /book') return 'pass';
      posts += 1;
      if (posts % 20 !== 0) return 'pass';
      lost.push('lose answer');
      return 'lose answer';
    });
    const file = await writeCsv(books);

    const { exitCode, output } = await runImport(file, proxy.baseUrl);

    await proxy.stop();
    expect(lost).not.toHaveLength(0);
    expect(output).toContain('the connection broke');
    expect(exitCode).toBe(0);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test('sends what a gateway throttled again, not before Retry-After', async () => {
    const throttledAt: number[] = [];
    const sentAt: number[] = [];
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name !== 'POST /book') return 'pass';
      sentAt.push(performance.now());
      if (throttledAt.length > 0) return 'pass';
      throttledAt.push(performance.now());
      return answer(429, 'Too many requests', { 'Retry-After': '2' });
    });

    const { exitCode } = await runImport(await writeCsv(createBooks(1)), proxy.baseUrl);

    await proxy.stop();
    expect(exitCode).toBe(0);
    expect(sentAt).toHaveLength(2);
    expect((sentAt[1] ?? 0) - (throttledAt[0] ?? 0)).toBeGreaterThan(1_990);
    expect(await listBooks()).toHaveLength(1);
  });

  test('goes on when the storage was away for a while', async () => {
    const books = createBooks(200);
    const file = await writeCsv(books);
    const command = new BooksCommand(['import', file, '--base-url', service.baseUrl, '--settle', '1']);
    await waitForCreated(`${file}.journal`, 50);
    await engine.kill();
    await new Promise((done) => setTimeout(done, 2_000));
    engine = await EngineProcess.start(join(folder, 'engine'), engine.port);

    const { exitCode, output } = await command.ended;

    expect(output).toContain('the service answered 503 Service unavailable');
    expect(exitCode).toBe(0);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test('ends when the service is gone, and continues when it is back', async () => {
    const books = createBooks(200);
    const file = await writeCsv(books);
    const journal = ['--journal', join(folder, 'gone.journal')];
    let proxy = await FaultyGateway.start(service.baseUrl, () => 'pass');
    const { port } = new URL(proxy.baseUrl);
    const args = ['import', file, '--base-url', proxy.baseUrl, '--settle', '1', ...journal];
    const command = new BooksCommand([...args, '--give-up-after', '2']);
    await waitForCreated(join(folder, 'gone.journal'), 50);
    await proxy.stop();
    const gone = await command.ended;

    proxy = await FaultyGateway.start(service.baseUrl, () => 'pass', Number(port));
    const back = await runBooks(args);

    await proxy.stop();
    expect(gone.exitCode).toBe(1);
    expect(gone.output).toContain('gave up after 2 s: ');
    expect(gone.output).not.toContain('    at ');
    expect(back.exitCode).toBe(0);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test('that is stopped with Ctrl-C notes every answer, and continues', async () => {
    const books = createBooks(300);
    const file = await writeCsv(books);
    const command = new BooksCommand(['import', file, '--base-url', service.baseUrl]);
    await waitForCreated(`${file}.journal`, 50);

    const stopped = await command.end('SIGINT');

    expect(stopped.exitCode).toBe(130);
    expect(await listBooks()).toHaveLength(await countCreated(`${file}.journal`));
    expect((await runImport(file)).exitCode).toBe(0);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test("renews its token before it expires, by the service's clock", async () => {
    let tokens = 0;
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name !== 'POST /token') return 'pass';
      tokens += 1;
      const exp = Math.floor(Date.now() / 1000) + 600;
      const oneSecondBefore = new Date((exp - 1) * 1000).toUTCString();
      return answerToken(
        forgeToken({ payload: { exp }, secret: testSettings.SECRET_TOKEN }),
        oneSecondBefore,
      );
    });
    const books = createBooks(300);

    const { exitCode } = await runImport(await writeCsv(books), proxy.baseUrl, ['--parallel', '1']);

    await proxy.stop();
    expect(exitCode).toBe(0);
    expect(tokens).toBeGreaterThan(1);
    expect(await listBooks()).toHaveLength(books.length);
  });

  test('logs in again when its token is refused', async () => {
    let tokens = 0;
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name !== 'POST /token') return 'pass';
      tokens += 1;
      return tokens > 1 ? 'pass' : answerToken(forgeToken({ payload: {}, secret: 'no longer in use' }));
    });

    const { exitCode } = await runImport(await writeCsv(createBooks(20)), proxy.baseUrl);

    await proxy.stop();
    expect(exitCode).toBe(0);
    expect(tokens).toBe(2);
    expect(await listBooks()).toHaveLength(20);
  });

  test('that is complete creates nothing when it is called again', async () => {
    const file = await writeCsv(createBooks(10));
    await runImport(file);

    const { exitCode, output } = await runImport(file);

    expect(output).toContain('was imported before');
    expect(exitCode).toBe(0);
    expect(await listBooks()).toHaveLength(10);
  });

  test('adds to a catalog that holds the same books already', async () => {
    const books = createBooks(20);
    const file = await writeCsv(books);
    await runImport(file);

    await runImport(file, service.baseUrl, ['--journal', join(folder, 'second')]);

    expect(sortFields(await listBooks())).toEqual(sortFields([...books, ...books]));
  });

  test('reports the rows that it or the service rejects, now and when it is called again', async () => {
    const file = join(folder, 'some.ndjson');
    const tooLarge = JSON.stringify({ title: 'x'.repeat(410 * 1024) });
    await writeFile(file, `{"title":"Emma"}\n{"title":7}\n${tooLarge}\nEmma\n`);

    for (const _ of [1, 2]) {
      const { exitCode, output } = await runImport(file);
      expect(exitCode).toBe(3);
      expect(output).toContain('3 rows rejected');
      const report = (await readFile(`${file}.rejected.csv`, 'utf8')).trim().split('\n');
      expect(report[0]).toBe('line,reason,record');
      expect(report.slice(1).sort()).toEqual([
        '2,title is not a string,"{""title"":7}"',
        expect.stringMatching(/^3,the service answered 413 Payload too large,"{""title"":""xxx/),
        '4,is not a JSON object,Emma',
      ]);
    }
    expect((await listBooks()).map(toFields)).toEqual([{ title: 'Emma', author: '', year: 0 }]);
  });
});

describe('one line says', () => {
  test('that username and password do not fit', async () => {
    const file = await writeCsv(createBooks(1));
    const { exitCode, output } = await runBooks(['import', file, '--base-url', service.baseUrl], {
      BOOKS_PASSWORD: 'wrong',
    });
    expect(output).toBe('the service does not know the username librarian with this password\n');
    expect(exitCode).toBe(1);
  });

  test('that a journal is of another file or another service', async () => {
    const file = await writeCsv(createBooks(1));
    await runImport(file);
    const elsewhere = await runImport(file, `http://localhost:${service.port}`);
    await writeFile(file, 'title\nanother\n');
    const changed = await runImport(file);

    expect(elsewhere.output).toMatch(/is the journal of an import to http:\/\/127.*\n$/);
    expect(changed.output).toMatch(
      /is the journal of another file, or of this one before it was changed.*\n$/,
    );
    expect([elsewhere.exitCode, changed.exitCode]).toEqual([1, 1]);
    expect(await listBooks()).toHaveLength(1);
  });

  test('that another process imports the file', async () => {
    const file = await writeCsv(createBooks(300));
    const command = new BooksCommand(['import', file, '--base-url', service.baseUrl]);
    await waitForCreated(`${file}.journal`, 1);
    const { exitCode, output } = await runImport(file);
    await command.end('SIGKILL');

    expect(output).toMatch(/^process \d+ on .* is importing this file.*\n$/);
    expect(exitCode).toBe(1);
  });

  test('that the base URL is of something else', async () => {
    const file = await writeCsv(createBooks(1));
    const { exitCode, output } = await runImport(file, `${service.baseUrl}/v1`);
    expect(output).toMatch(/^the service answered 404 Not found, .* base URL\?\n$/);
    expect(exitCode).toBe(1);
  });

  test('that the token is none', async () => {
    const proxy = await FaultyGateway.start(service.baseUrl, () => answerToken('a.b.c'));
    const { exitCode, output } = await runImport(await writeCsv(createBooks(1)), proxy.baseUrl);
    await proxy.stop();
    expect(output).toMatch(/^the service answered 200 .* base URL\?\n$/);
    expect(exitCode).toBe(1);
  });
});

function createBooks(count: number, titleOf = (index: number) => `Book ${index}`): BookFields[] {
  return Array.from({ length: count }, (_, index) => {
    const title = titleOf(index);
    return { title, author: 'Author', year: title === 'The same' ? 1 : index };
  });
}

async function writeCsv(books: readonly BookFields[]): Promise<string> {
  const path = join(folder, `${randomUUID()}.csv`);
  const lines = books.map(({ title, author, year }) => `${title},${author},${year}`);
  await writeFile(path, ['title,author,year', ...lines].join('\n'));
  return path;
}

function runImport(file: string, baseUrl = service.baseUrl, options: readonly string[] = []) {
  return runBooks(['import', file, '--base-url', baseUrl, '--settle', '1', ...options]);
}

/** The books of this test, unless another start is given. */
async function listBooks({ after } = { after: lastId }): Promise<Book[]> {
  const { envelope } = await request(`${service.baseUrl}/books`, {
    headers: await authorize(service.baseUrl),
  });
  return (envelope.data as Book[]).filter(({ id }) => id > after);
}

function answerToken(token: string, date = new Date().toUTCString()) {
  return answer(200, 'Token generated successfully', { Date: date }, { token });
}

function toFields({ title, author, year }: BookFields): BookFields {
  return { title, author, year };
}

function sortFields(books: readonly BookFields[]): string[] {
  return books.map((book) => JSON.stringify(toFields(book))).sort();
}
