import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { EngineProcess } from '../simulators/engine.ts';
import { anyText } from '../support/any-text.ts';
import { request } from '../support/http-client.ts';
import { BooksCommand, runBooks } from './books-command.ts';
import { type Fate, FaultyGateway, respond } from './faulty-gateway.ts';
import { authorize, LocalService } from './local-service.ts';

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
    const odd = [
      ' a',
      'a ',
      '\r',
      '\n',
      '\r\n',
      '"',
      ',',
      '=1+1',
      '\ufeff',
      '',
      '\0',
      '\u2028',
      '\ufffd',
      '\\"',
    ];
    books.push(...odd.map((text) => ({ title: text, author: text, year: -0 + 1 })));
    const file = await writeRows(books);
    await runImport(file, ['--parallel', '1']);
    expect((await listBooks()).map(toFields)).toEqual(books);

    for (const format of ['csv', 'ndjson']) {
      const before = (await listBooks()).length;
      const exported = join(folder, `exported-${format}.${format}`);
      expect((await runBooks(['export', exported, '--base-url', service.baseUrl])).exitCode).toBe(0);
      const { output } = await runImport(exported, ['--parallel', '1', '--batch', format]);
      const stored = (await listBooks()).map(toFields);
      // In CSV, U+FFFD cannot be told from a byte that was lost.
      const isLossless = ({ title, author }: BookFields) =>
        format !== 'csv' || !(title + author).includes('\ufffd');
      expect(stored.slice(before)).toEqual(stored.slice(0, before).filter(isLossless));
      expect(output.includes('U+FFFD')).toBe(format === 'csv');
    }
  });

  test('goes to standard output without a file, in the order of ids', async () => {
    await runImport(await writeCsv(createBooks(3)), ['--parallel', '1']);
    const { output } = await runBooks(['export', '--format', 'csv', '--base-url', service.baseUrl]);
    const rows = (await listBooks()).map(
      ({ id, title, author, year }) => `${id},"${title}","${author}",${year}\n`,
    );
    expect(rows).toHaveLength(3);
    expect(output).toMatch(/^id,title,author,year\n/);
    expect(output).toContain(rows.join(''));
  });

  test('ends without a word when nobody reads on', async () => {
    await runImport(await writeCsv(createBooks(500)));
    const command = `"${process.execPath}" tools/books/main.ts export --base-url ${service.baseUrl} | head -1`;
    const env = { ...process.env, BOOKS_USERNAME: 'librarian', BOOKS_PASSWORD: "it's a password" };
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], { env });
    expect(stdout).toBe('id,title,author,year\n');
    expect(stderr).not.toMatch(/EPIPE|Error| at /);
  });

  test('requests a page again that got no response, and leaves no file when it fails', async () => {
    await runImport(await writeCsv(createBooks(30)));
    let faults = ['cut response', 'lose response', respond(503, 'Service unavailable')] as Fate[];
    const proxy = await FaultyGateway.start(service.baseUrl, (name) =>
      name.startsWith('GET /books') ? (faults.pop() ?? 'pass') : 'pass',
    );
    const exported = join(folder, 'retried.ndjson');
    const ids = (await listBooks({ after: 0 })).map(({ id }) => id);

    const { exitCode } = await runBooks(['export', exported, '--base-url', proxy.baseUrl]);
    expect(exitCode).toBe(0);
    const lines = (await readFile(exported, 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids);

    faults = Array(100).fill('lose response');
    const failed = join(folder, 'failed.csv');
    const failure = await runBooks(['export', failed, '--base-url', proxy.baseUrl, '--give-up-after', '1']);
    await proxy.stop();
    expect(failure.exitCode).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith('failed'))).toEqual([]);
  });
});

describe('an import', { timeout: longTestMs }, () => {
  test('that is killed creates each book once, whoever else changes the catalog meanwhile', async () => {
    // Every third row is the same as others.
    const books = createBooks(rowCount, (index) => (index % 3 === 0 ? 'The same' : `Book ${index}`));
    const file = await writeCsv(books);
    const others: Promise<unknown>[] = [];
    const ids: number[] = [];
    const headers = await authorize(service.baseUrl);
    for (const share of [0.2, 0.5, 0.8]) {
      let posts = 0;
      const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
        if (name !== 'POST /book') return 'pass';
        posts += 1;
        if (posts === Math.ceil(rowCount * 0.25)) void command.end('SIGKILL');
        if (posts % 50 === 0)
          others.push(createElsewhere(books[0] as BookFields, headers).then((id) => ids.push(id)));
        return 'pass';
      });
      const command = new BooksCommand(['import', file, '--base-url', proxy.baseUrl]);
      expect((await command.ended).exitCode, `at ${share}`).toBe(null);
      await proxy.stop();
    }

    const startedAt = performance.now();
    const { exitCode, output } = await runImport(file);

    await Promise.all(others);
    expect(output).toMatch(/\d books? created(, \d+ there already)? in/);
    expect(exitCode).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(30_000 + rowCount * 30);
    expect(ids.length).toBeGreaterThan(0);
    const stored = (await listBooks()).filter(({ id }) => !ids.includes(id));
    expect(sortFields(stored)).toEqual(sortFields(books));
  });

  test('whose requests and responses get lost creates each book once', async () => {
    const books = createBooks(60, (index) => `Book ${index % 7}`);
    const fates: Fate[] = [
      'lose response',
      'lose request',
      'cut response',
      respond(503, 'Service unavailable'),
    ];
    let posts = 0;
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name !== 'POST /book') return 'pass';
      posts += 1;
      return posts % 4 === 0 ? (fates[(posts / 4) % fates.length] ?? 'pass') : 'pass';
    });

    const { exitCode, output } = await runImport(await writeCsv(books), [], proxy.baseUrl);

    await proxy.stop();
    expect(output).toContain('; trying again');
    expect(output).toContain('there already in');
    expect(exitCode).toBe(0);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test('goes on when the storage was away for a while', async () => {
    const books = createBooks(200);
    let posts = 0;
    let restarted: Promise<void> | undefined;
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name === 'POST /book') posts += 1;
      if (posts === 50) restarted ??= restartEngine();
      return 'pass';
    });

    const { exitCode, output } = await runImport(await writeCsv(books), [], proxy.baseUrl);

    await restarted;
    await proxy.stop();
    expect(output).toContain('the service responded 503 Service unavailable; trying again');
    expect(exitCode).toBe(0);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test('ends when the service is gone, and continues at once when it is back', async () => {
    const books = createBooks(200);
    const file = await writeCsv(books);
    let posts = 0;
    let proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name === 'POST /book') posts += 1;
      if (posts === 100) void proxy.stop();
      return 'pass';
    });
    const { port } = new URL(proxy.baseUrl);
    const gone = await runImport(file, ['--give-up-after', '2'], proxy.baseUrl);

    proxy = await FaultyGateway.start(service.baseUrl, () => 'pass', Number(port));
    const back = await runImport(file, [], proxy.baseUrl);

    await proxy.stop();
    expect(gone.exitCode).toBe(1);
    expect(gone.output).toMatch(
      /cannot use http.* after up to 2 s of trying: no response \(ECONNREFUSED\)\n$/,
    );
    expect(gone.output).not.toContain('    at ');
    expect(back.exitCode).toBe(0);
    expect(back.output).toMatch(/Continuing: \d+ rows done before/);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test('that is stopped with Ctrl-C waits for responses, and continues', async () => {
    const books = createBooks(300);
    const file = await writeCsv(books);
    let posts = 0;
    const proxy = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name === 'POST /book') posts += 1;
      if (posts === 100) void command.end('SIGINT');
      return 'pass';
    });
    const command = new BooksCommand(['import', file, '--base-url', proxy.baseUrl]);
    const stopped = await command.ended;
    await proxy.stop();

    expect(stopped.exitCode).toBe(130);
    const { done } = await readState(file);
    expect(await listBooks()).toHaveLength(done as number);
    expect((await runImport(file)).exitCode).toBe(0);
    expect(sortFields(await listBooks())).toEqual(sortFields(books));
  });

  test('that is complete creates nothing when it is called again, with its checkpoint and without', async () => {
    const file = await writeCsv(createBooks(10, () => 'The same'));
    await runImport(file);

    const again = await runImport(file);
    await rm(`${file}.checkpoint`);
    const without = await runImport(file);

    expect(again.output).toContain('Continuing: 10 rows done before\n0 books created in');
    expect(without.output).toContain('0 books created, 10 there already in');
    expect([again.exitCode, without.exitCode]).toEqual([0, 0]);
    expect(await listBooks()).toHaveLength(10);
  });

  test('creates the same books again under the name of another batch', async () => {
    const books = createBooks(20);
    const file = await writeCsv(books);
    await runImport(file);

    for (const _ of [1, 2]) await runImport(file, ['--batch', 'again']);

    expect(sortFields(await listBooks())).toEqual(sortFields([...books, ...books]));
  });

  test('of a file that was mended creates what is new in it, wherever that is', async () => {
    const books = createBooks(10);
    const file = await writeCsv(books);
    const text = await readFile(file, 'utf8');
    await writeFile(file, `${text}\n"Late, but "mended",A,1\n`);
    expect((await runImport(file)).exitCode).toBe(3);

    const [header, ...rows] = text.split('\n');
    const added = ['New,A,1', ...rows, '"Late, but mended",A,1', rows[0]].reverse();
    await writeFile(file, [header, ...added].join('\n'));
    const { exitCode, output } = await runImport(file);

    expect(output).toContain('3 books created, 10 there already in');
    expect(exitCode).toBe(0);
    const more = [{ ...books[0] }, { title: 'New' }, { title: 'Late, but mended' }];
    const fields = more.map((book) => ({ author: 'A', year: 1, ...book }) as BookFields);
    expect(sortFields(await listBooks())).toEqual(sortFields([...books, ...fields]));
  });

  test.each([
    [
      'csv',
      'Book Title;isbn;Author;Year\r\nEmma;1;Jane;1815\r\n"Du"ne";2;F;1965\r\nSolaris;3;"Lem; S.";1961?\r\nX;4\r\n',
      [
        'rejected_because;Book Title;isbn;Author;Year',
        '"a quote is out of place";"Du"ne";2;F;1965',
        '"year is not a whole number up to 2^53-1: ""1961?""";Solaris;3;"Lem; S.";1961?',
        '"has 2 cells where the header has 4";X;4',
      ],
      (text: string) => text.replace('"Du"ne"', 'Dune').replaceAll('1961?', '1961').replace('X;4', 'X;4;;'),
    ],
    [
      'ndjson',
      '{"title":"Emma","author":"Jane","year":1815}\n{"title":"Dune","year":"1965"}\nSolaris\n{}x\n',
      [
        '{"rejected_because":"year is not a whole number up to 2^53-1: \\"1965\\"","title":"Dune","year":"1965"}',
        '["is not a JSON object","Solaris"]',
        '{"rejected_because":"is not a JSON object","x'.replace(',"x', '}x'),
      ],
      (text: string) =>
        text
          .replace('"1965"}', '1965,"author":"F"}')
          .replace(/^\[.*Solaris.*$/m, '{"title":"Solaris","author":"Lem; S.","year":1961}')
          .replace(/\}x$/m, ',"title":"X"}'),
    ],
  ])(
    'writes rejected rows to a %s file that is rejected again, or mended and imported',
    async (format, content, rows, mend) => {
      const file = join(folder, `rejecting.${format}`);
      const rejected = `${file}.rejected.${format}`;
      await writeFile(file, content);
      const first = await runImport(file, ['--batch', format]);
      const text = await readFile(rejected, 'utf8');
      const again = await runImport(rejected, ['--batch', format]);
      const textAgain = await readFile(`${rejected}.rejected.${format}`, 'utf8');
      await writeFile(rejected, mend(text));
      const mended = await runImport(rejected, ['--batch', format]);

      expect(first.output).toContain('3 rows rejected, see');
      expect(first.exitCode).toBe(3);
      expect(text.replace('\ufeff', '').trim().split('\n')).toEqual(rows);
      expect(again.exitCode).toBe(3);
      expect(textAgain.replace('3 cells where the header has 5', '2 cells where the header has 4')).toBe(
        text,
      );
      expect(mended.output).toContain('3 books created in');
      expect(mended.exitCode).toBe(0);
      expect(sortFields(await listBooks())).toEqual(
        sortFields([
          { title: 'Emma', author: 'Jane', year: 1815 },
          { title: 'Dune', author: 'F', year: 1965 },
          { title: 'Solaris', author: 'Lem; S.', year: 1961 },
          { title: 'X', author: '', year: 0 },
        ]),
      );
    },
  );

  test('keeps a file of rejected rows that was there before', async () => {
    const file = await writeCsv([]);
    await writeFile(file, 'title,author,year\na,b,c\n');
    await writeFile(`${file}.rejected.csv`, 'mended, perhaps');
    await runImport(file);
    expect(await readFile(`${file}.rejected.csv~`, 'utf8')).toBe('mended, perhaps');
  });

  test('reports what the service refuses, now and when it is called again', async () => {
    const file = await writeCsv(createBooks(5));
    let refusals = 1;
    const refusing = await FaultyGateway.start(service.baseUrl, (name) => {
      if (name !== 'POST /book' || refusals === 0) return 'pass';
      refusals -= 1;
      return respond(413, 'Payload too large');
    });
    const first = await runImport(file, ['--parallel', '1'], refusing.baseUrl);
    const second = await runImport(file, ['--parallel', '1'], refusing.baseUrl);
    await refusing.stop();

    expect(first.output).toContain('line 2: the service responded 413 Payload too large');
    expect(first.exitCode).toBe(3);
    expect(second.output).toContain('1 book created, 4 there already');
    expect(second.exitCode).toBe(0);
  });

  test('asks past the 7 days for which the service recognises its rows', async () => {
    const file = await writeCsv(createBooks(10));
    await runImport(file);
    await changeState(file, { startedAt: '2026-01-02T03:04:05.000Z' });

    const complete = await runImport(file);
    await changeState(file, { done: 4 });
    const incomplete = await runImport(file);
    const confirmed = await runImport(file, ['--yes']);

    expect(complete.output).toMatch(
      /This import began on 2026-01-02, and the service recognises rows for 7 days: all rows may become books again\. To go on, add --yes\n$/,
    );
    expect(incomplete.output).toContain('rows in flight after row 4 may become books again');
    expect([complete.exitCode, incomplete.exitCode, confirmed.exitCode]).toEqual([1, 1, 0]);
    expect(confirmed.output).toContain('0 books created, 6 there already');
    expect(await listBooks()).toHaveLength(10);
  });

  test('reads standard input', async () => {
    const input = Buffer.from('title;author;year\r\nCaf\xe9;Zo\xeb;1\r\n', 'latin1');
    const args = ['import', '-', '--base-url', service.baseUrl, '--rejected', join(folder, 'stdin.csv')];
    const { exitCode } = await runBooks(args, { input });
    expect(exitCode).toBe(0);
    expect((await listBooks()).map(toFields)).toEqual([{ title: 'Café', author: 'Zoë', year: 1 }]);
  });

  test('says what it takes before it sends anything, and in a dry run nothing is sent', async () => {
    const file = await writeCsv([]);
    const title = 'x'.repeat(400 * 1024);
    await writeFile(
      file,
      `name,authors,published,isbn\na,b,1,2\n${title},b,1,2\nc,d,2,2\ne,f,3,2\ng,h,4,2\n`,
    );
    const options = ['--columns', 'year=published', '--dry-run'];
    const { exitCode, output } = await runBooks([
      'import',
      file,
      '--base-url',
      'http://127.0.0.1:1',
      ...options,
    ]);
    expect(output).toBe(
      `Columns (utf-8, separated by ","):\n  title: "name"\n  author: "authors"\n  year: "published"\n  ignored: "isbn"
The first books:\n  {"title":"a","author":"b","year":1}\n  {"title":"c","author":"d","year":2}
  {"title":"e","author":"f","year":3}\n4 rows can become books; nothing was sent
1 row rejected, see ${file}.rejected.csv:\n  line 3: is larger than the 400 KB that a book can have\n`,
    );
    expect(exitCode).toBe(3);
  });

  test('keeps the order of the rows when it sends one at a time', async () => {
    const books = createBooks(40);
    await runImport(await writeCsv(books), ['--parallel', '1']);
    expect((await listBooks()).map(toFields)).toEqual(books);
  });
});

describe('one line says', () => {
  test.each<[string, string[], RegExp, number]>([
    [
      'that a column is missing',
      ['import', 'missing.csv'],
      /^no column for author, year among "title"; name it.*\n$/,
      1,
    ],
    ['that there is no file', ['import', 'nothing.csv'], /^there is no .*nothing\.csv\n$/, 1],
    [
      'that an option is wrong',
      ['import', 'a.csv', '--parallel', '0'],
      /^--parallel cannot be 0; --help .*\n$/,
      2,
    ],
    [
      'that an option is not known',
      ['import', 'a.csv', '--journal', 'x'],
      /^Unknown option '--journal'.*\n$/,
      2,
    ],
    [
      'that a field is not known',
      ['import', 'a.csv', '--columns', 'titel=x'],
      /^a field cannot be titel.*\n$/,
      2,
    ],
    [
      'that the file would be overwritten',
      ['import', 'a.csv', '--rejected', 'a.csv'],
      /^--rejected cannot be.*\n$/,
      2,
    ],
    ['that there is no command', ['move'], /^import FILE or export\?.*\n$/, 2],
    [
      'that nobody listens',
      ['import', 'ok.csv', '--base-url', 'http://127.0.0.1:59999'],
      /cannot use http:\/\/127.0.0.1:59999 as librarian.*ECONNREFUSED\)\n$/,
      1,
    ],
  ])('%s', async (_name, args, message, code) => {
    await writeFile(join(folder, 'missing.csv'), 'title\nEmma\n');
    await writeFile(join(folder, 'ok.csv'), 'title,author,year\nEmma,,1\n');
    const inFolder = args.map((arg) => (arg.endsWith('.csv') ? join(folder, arg) : arg));
    const { output, exitCode } = await runBooks(inFolder);
    expect(output).toMatch(message);
    expect(output).not.toContain('    at ');
    expect(exitCode).toBe(code);
  });

  test('that username and password do not fit, which have defaults on this machine', async () => {
    const file = await writeCsv(createBooks(1));
    const args = ['import', file, '--base-url', service.baseUrl];
    const wrong = await runBooks(args, { environment: { BOOKS_PASSWORD: 'wrong' } });
    const none = { BOOKS_USERNAME: undefined, BOOKS_PASSWORD: undefined };
    const defaults = await runBooks(args, { environment: none });
    const elsewhere = await runBooks([...args, '--base-url', 'https://books.example'], { environment: none });
    expect(wrong.output).toMatch(/as librarian, .*: there is no token: Invalid credentials\n$/);
    expect(defaults.output).toMatch(/as admin, .*: there is no token: Invalid credentials\n$/);
    expect(elsewhere.output).toBe('BOOKS_USERNAME and BOOKS_PASSWORD are needed\n');
    expect([wrong.exitCode, defaults.exitCode, elsewhere.exitCode]).toEqual([1, 1, 2]);
  });

  test('that the base URL is of something else', async () => {
    const { exitCode, output } = await runImport(await writeCsv(createBooks(1)), [], `${service.baseUrl}/v1`);
    expect(output).toMatch(/\ncannot use .*\/v1 as librarian, .*: there is no token: Not found\n$/);
    expect(exitCode).toBe(1);
  });
});

async function restartEngine(): Promise<void> {
  await engine.kill();
  await new Promise((done) => setTimeout(done, 2_000));
  engine = await EngineProcess.start(join(folder, 'engine'), engine.port);
}

async function createElsewhere(book: BookFields, headers: Record<string, string>): Promise<number> {
  const { envelope } = await request(`${service.baseUrl}/book`, {
    method: 'POST',
    headers,
    body: JSON.stringify(book),
  });
  return (envelope.data as Book).id;
}

function createBooks(count: number, titleOf = (index: number) => `Book ${index}`): BookFields[] {
  // Books of other tests are others, whose keys would be the same.
  const author = randomUUID();
  return Array.from({ length: count }, (_, index) => {
    const title = titleOf(index);
    return { title, author, year: title === 'The same' ? 1 : index };
  });
}

async function writeCsv(books: readonly BookFields[]): Promise<string> {
  const path = join(folder, `${randomUUID()}.csv`);
  const lines = books.map(({ title, author, year }) => `${title},${author},${year}`);
  await writeFile(path, ['title,author,year', ...lines].join('\n'));
  return path;
}

async function writeRows(books: readonly BookFields[]): Promise<string> {
  const path = join(folder, `${randomUUID()}.ndjson`);
  const lines = books.map((book) => JSON.stringify(book).replaceAll('\ufffd', '\\ufffd'));
  await writeFile(path, lines.join('\n'));
  return path;
}

function runImport(file: string, options: readonly string[] = [], baseUrl = service.baseUrl) {
  return runBooks(['import', file, '--base-url', baseUrl, ...options]);
}

/** The one state of a checkpoint. */
async function readState(file: string): Promise<Record<string, unknown>> {
  const states = JSON.parse(await readFile(`${file}.checkpoint`, 'utf8'));
  return Object.values(states)[0] as Record<string, unknown>;
}

async function changeState(file: string, change: Record<string, unknown>): Promise<void> {
  const states = JSON.parse(await readFile(`${file}.checkpoint`, 'utf8'));
  for (const state of Object.values(states)) Object.assign(state as object, change);
  await writeFile(`${file}.checkpoint`, JSON.stringify(states));
}

/** The books of this test, unless another start is given. */
async function listBooks({ after } = { after: lastId }): Promise<Book[]> {
  const { envelope } = await request(`${service.baseUrl}/books`, {
    headers: await authorize(service.baseUrl),
  });
  return (envelope.data as Book[]).filter(({ id }) => id > after);
}

function toFields({ title, author, year }: BookFields): BookFields {
  return { title, author, year };
}

function sortFields(books: readonly BookFields[]): string[] {
  return books.map((book) => JSON.stringify(toFields(book))).sort();
}
