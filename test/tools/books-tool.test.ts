import { execFileSync } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { unknownField } from '../../conformance/a-book.ts';
import { request } from '../../conformance/http-client.ts';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { type Fate, respond, startFaultyGateway } from '../fakes/faulty-gateway.ts';
import { aBook, anyFieldValues } from '../support/a-book.ts';
import { startCommand, testSettings } from '../support/local-service.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService();
let folder: string;

/** The highest id of the tests before. */
let lastId = 0;

beforeEach(async () => {
  folder = await makeTemporaryFolder();
});

afterEach(async () => {
  lastId = (await listBooks()).at(-1)?.id ?? lastId;
});

test.each([
  ['csv', []],
  ['ndjson', []],
  ['csv', ['--spreadsheet']],
])('an export as %s holds any text, so an import of it creates the same books (%j)', async (format, options) => {
  const isPlain = options.length === 0;
  const odd = [
    '\r\n",\ufeff\0\u2028\ufffd;\t\'',
    '\r\n',
    '',
    '\\"',
    '""',
    '"Heroes"',
    '\n\n',
    'a\\',
    'Émile 😀',
    ' a',
    'a ',
  ];
  const formulas = ['=1+1', "'=1", '\tx', '-1', '@x', '\r'];
  const texts = isPlain ? [...odd, ...odd.join(''), ...formulas] : odd.map((text) => `a${text}`);
  const drawn = fc.sample(fc.record(anyFieldValues), { numRuns: isPlain ? 100 : 0, seed: lastId });
  const books = [...drawn, ...texts.map((text) => aBook({ title: text, author: text, year: lastId }))];
  const listed = books.map((book, index) => ({ id: index + 1, ...book }));
  const gateway = await openGateway((name) => {
    const after = Number(/after=(\d+)$/.exec(name)?.[1] ?? listed.length);
    return name.startsWith('GET /books?')
      ? respond(200, 'Books retrieved successfully', {}, listed.slice(after))
      : 'pass';
  });
  const exported = join(folder, `exported.${format}`);

  expect((await runBooks(['export', exported, ...options], { baseUrl: gateway.baseUrl })).exitCode).toBe(0);
  expect(await runImport(exported, ['--new-ids', '--parallel', '1'])).toEqual(
    ending(0, `${books.length} books created`),
  );

  expect((await listBooks()).map(toFields)).toEqual(books);
});

test('an export for spreadsheets has no formulas, and begins with a byte order mark', async () => {
  const formulas = ['=HYPERLINK("x")', '+1', '-1', '@SUM(1)', '\t=1', '\r=1', '\n=1', ...'＝＋－＠'];
  const texts = ['plain', 'a=1', ''];
  const author = randomUUID();
  const books = [...formulas, ...texts].map((title) => aBook({ title, author }));
  await runImport(await writeText(books.map((book) => JSON.stringify(book)).join('\n'), 'ndjson'));
  const exportTitles = async (...options: string[]) => {
    const { output } = await runBooks(['export', ...options]);
    expect(output.startsWith(options.length === 0 ? 'id,' : '\ufeffid,')).toBe(true);
    const rows = [...output.matchAll(/^\d+,"((?:[^"]|"")*)","(.*?)"/gm)].filter((row) => row[2] === author);
    return rows.map(([, title = '']) => title.replaceAll('""', '"')).sort();
  };

  expect(await exportTitles()).toEqual([...formulas, ...texts].sort());
  expect(await exportTitles('--spreadsheet')).toEqual([...formulas.map((text) => `'${text}`), ...texts].sort());
});

test('an export goes to standard output without a file or for -, in the order of ids, and ends silently with its reader', async () => {
  await runImport(await writeCsv(createBooks(500)));

  const { output } = await runBooks(['export', '-']);
  const ndjson = join(folder, 'exported.ndjson');
  await runBooks(['export', ndjson]);
  const cutOff = start(['export']);
  cutOff.child.stdout.once('data', () => cutOff.child.stdout.destroy());
  const { exitCode, output: beginning } = await cutOff.ended;

  const header = `id,${Object.keys(aBook())}\n`;
  const rows = (await listBooks()).map(
    (book) => `${book.id},${Object.values(toFields(book)).map((value) => JSON.stringify(value))}\n`,
  );
  expect(rows).toHaveLength(500);
  expect(output.startsWith(header)).toBe(true);
  expect(output).toContain(rows.join(''));
  expect(await readFile(ndjson, 'utf8')).toBe((await listBooks(0)).map((book) => `${JSON.stringify(book)}\n`).join(''));
  expect([exitCode, beginning]).toEqual([0, header]);
});

test('two exports to one file at once are both whole, and keep the file that was there', async () => {
  await runImport(await writeCsv(createBooks(500)));
  const exported = join(folder, 'exported.csv');
  await writeFile(exported, 'precious');
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: otherEnd, resolve: end } = Promise.withResolvers<void>();
  const gateway = await openGateway((name) => {
    if (!/^GET .*after=[1-9]/.test(name)) return 'pass';
    begin();
    return otherEnd.then((): Fate => 'pass');
  });
  const slow = runBooks(['export', exported], { baseUrl: gateway.baseUrl });
  await begun;

  const fast = await runBooks(['export', exported]);
  const [kept, whole] = await Promise.all([`${exported}~`, exported].map((path) => readFile(path, 'utf8')));
  end();

  expect(fast).toEqual(ending(0, /^[\d,]+ books exported; the file that was there is .*exported\.csv~\n$/));
  expect([kept, whole?.split('\n').length]).toEqual(['precious', expect.toSatisfy((lines) => lines > 500)]);
  expect((await slow).exitCode).toBe(0);
  for (const path of [exported, `${exported}~`]) expect(await readFile(path, 'utf8')).toBe(whole);
  expect((await readdir(folder)).filter((name) => name.startsWith('exported'))).toHaveLength(2);
});

// In a container, whose user may rename devices, it would take /dev/null from all programs.
test('an export replaces neither a link nor what is not a file, such as a socket or a device', async () => {
  const [socket, link] = [join(folder, 'socket'), join(folder, 'link')];
  const server = createServer().listen(socket);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  await symlink('books.csv', link);

  for (const path of [socket, link, folder]) {
    const message = `${path} is not a regular file; name another one, or - for standard output\n`;
    expect(await runBooks(['export', path])).toEqual(ending(1, message));
  }
  expect(await readdir(folder)).toEqual(['link', 'socket']);
});

test.each([
  ['SIGINT', 130, ['interrupted.csv']],
  ['SIGTERM', 130, ['interrupted.csv']],
  ['SIGINT', 130, []],
] as const)('after %s, an export ends with the code %i, and leaves no file: %j', async (signal, exitCode, files) => {
  let pages = 0;
  const gateway = await openGateway((name) => {
    const after = Number(/after=(\d+)$/.exec(name)?.[1]);
    if (Number.isNaN(after)) return 'pass';
    pages += 1;
    if (pages === 3) command.child.kill(signal);
    // There is always one more page.
    const Link = `<?limit=400&after=${after + 1}>; rel="next"`;
    return respond(200, 'Books retrieved successfully', { Link }, [{ ...aBook(), id: after + 1 }]);
  });
  const command = start(['export', ...files.map((name) => join(folder, name))], { baseUrl: gateway.baseUrl });
  onTestFinished(() => void command.child.kill('SIGKILL'));

  expect(await command.ended).toEqual(ending(exitCode, /Interrupted\n$/));

  expect(await readdir(folder)).toEqual([]);
});

test('an import that waits for a retry is interrupted at once', async () => {
  const unavailable = respond(503, 'Service unavailable', { 'Retry-After': '100' });
  const gateway = await countPosts(() => unavailable);
  const file = await writeCsv(createBooks(1));
  const command = start(['import', file], { baseUrl: gateway.baseUrl });
  onTestFinished(() => void command.child.kill('SIGKILL'));
  await expect.poll(command.readOutput, { timeout: 60_000 }).toContain('trying again');

  command.child.kill('SIGINT');

  expect(await command.ended).toEqual(ending(130, /Interrupted\n$/));
});

test('an import sends the next rows before it has the response to the first', async () => {
  const books = createBooks(20);
  const { promise: fate, resolve } = Promise.withResolvers<Fate>();
  const gateway = await countPosts((posts) => {
    if (posts === 4) resolve('pass');
    return fate;
  });

  await runImport(await writeCsv(books), ['--parallel', '4'], gateway.baseUrl);

  expectFields(await listBooks(), books);
});

test('the names of columns may have commas, and the separator may be named', async () => {
  const author = randomUUID();
  const file = await writeText(`"Title, subtitle";"AUTHOR (last, first)";Year\nA, or so;${author};1\n`, 'csv');
  const names = 'title=Title, subtitle,author=AUTHOR (last, first), year=Year';
  const columns = ['--columns', names, '--separator', 'semicolon'];

  expect(await runImport(file, columns)).toEqual(ending(0, '\n1 book created in '));

  expectFields(await listBooks(), [aBook({ title: 'A, or so', author, year: 1 })]);
});

test('a long import and a long export print how far they are', async () => {
  const environment = { NODE_OPTIONS: '--import=data:text/javascript,globalThis.now=0;performance.now=()=>now+=1000' };
  const file = await writeCsv(createBooks(50));

  expect(await runBooks(['import', file], { environment })).toEqual(
    ending(0, /\n\d+ lines checked\n(.*\n)*\d+ of 50 rows done \(\d+ %\)\n/),
  );
  expect((await runBooks(['export'], { environment })).output).toMatch(/^\d+ books so far$/m);
});

test('an import that is interrupted creates each book once, and says how to go on', async () => {
  const rowCount = 400;
  // Every third row is the same as others.
  const books = createBooks(rowCount, (index) => (index % 3 === 0 ? 'The same' : `Book ${index}`));
  const file = await writeCsv(books);
  const others: ReturnType<typeof local.send>[] = [];
  const storedBooks = async () => {
    const ids = (await Promise.all(others)).map(({ envelope }) => (envelope.data as Book).id);
    return (await listBooks()).filter(({ id }) => !ids.includes(id));
  };
  for (const [how, quarters, exitCode, message] of [
    ['SIGKILL', 1, null, /^Columns/],
    ['500', 2, 1, /\nImport the same file again to go on: .*\ncannot use .* responded 500 .*\n$/],
    ['SIGINT', 3, 130, /\nImport the same file again to go on: no book is created twice\nInterrupted\n$/],
  ] as const) {
    const last = (rowCount / 4) * quarters;
    const gateway = await countPosts((posts) => {
      if (posts % 50 === 0) others.push(local.send('POST', '/book', books[0]));
      if (how === '500') return posts < last ? 'pass' : respond(500, 'Internal server error');
      if (posts === last) command.child.kill(how);
      return 'pass';
    });
    const command = start(['import', file], { baseUrl: gateway.baseUrl });
    const ended = await command.ended;
    expect(ended).toEqual(ending(exitCode, message));
    expect(ended.output).not.toContain('    at ');
  }

  expect(await runImport(file)).toEqual(
    ending(0, /\d books? created in .*\n\d+ rows imported before, and not created again\n$/),
  );
  expect(others.length).toBeGreaterThan(0);
  expectFields(await storedBooks(), books);
});

test('the key of a row leaves defaults out, so a field that is added to the table makes no new rows', async () => {
  const title = randomUUID();
  const key = `import-${hash('sha256', JSON.stringify([['title', title]]), 'base64url')}-1`;
  const headers = { ...local.headers, 'Idempotency-Key': key };
  await request(`${local.baseUrl}/book`, { method: 'POST', headers, body: JSON.stringify({ title }) });

  expect(await runImport(await writeText(`title\n${title}\n`, 'csv'))).toEqual(ending(0, '\n1 row imported before'));
});

test('an import of a corrected file creates its new rows, wherever they are', async () => {
  const books = createBooks(10);
  const file = await writeCsv(books);
  const [header, ...rows] = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, [header, ...rows, 'Late, but mended,A,1'].join('\n'));
  expect((await runImport(file)).exitCode).toBe(3);

  const corrected = ['New,A,1', ...rows, '"Late, but mended",A,1', rows[0]].reverse();
  await writeFile(file, [header, ...corrected].join('\n'));

  expect(await runImport(file)).toEqual(ending(0, /3 books created in .*\n10 rows imported before/));
  const newBooks = ['New', 'Late, but mended'].map((title) => aBook({ title, author: 'A', year: 1 }));
  expectFields(await listBooks(), [...books, ...books.slice(0, 1), ...newBooks]);
});

test('an import of a tab-separated file with quotation marks asks what they are, and stores them as they are or takes them away', async () => {
  const author = randomUUID();
  const file = await writeText(`title\tauthor\tyear\nLow\t${author}\t1977\n"Heroes"\t${author}\t1977\n`, 'tsv');

  expect(await runImport(file)).toEqual(ending(1, /^line 3: quotation marks .* add --unquoted or --quoted\n/m));
  expect(await listBooks()).toEqual([]);
  for (const option of ['--unquoted', '--quoted']) await runImport(file, [option]);

  expectFields(
    await listBooks(),
    ['Low', '"Heroes"', 'Heroes'].map((title) => aBook({ title, author, year: 1977 })),
  );
});

test('an import reports rows that the service refuses', async () => {
  const file = await writeCsv(createBooks(10));
  const refusals = [
    { status: 413, message: 'Payload too large' },
    { status: 400, message: 'Invalid input' },
    { status: 422, message: 'Idempotency key already used' },
  ];
  const gateway = await countPosts((posts) => {
    const refusal = refusals[posts - 5];
    return refusal ? respond(refusal.status, refusal.message) : 'pass';
  });
  const { exitCode, output } = await runImport(file, ['--parallel', '1'], gateway.baseUrl);
  expect(exitCode).toBe(3);
  for (const [index, { status, message }] of refusals.entries()) {
    expect(output).toContain(`  line ${index + 6}: the service responded ${status} ${message}\n`);
  }
  expect(await listBooks()).toHaveLength(7);
});

test('control characters of a file and of the service are shown, and do not reach the terminal', async () => {
  const commands = '\u001b]0;x\u0007\u009b31m';
  const file = await writeText(`title,author,year\n${commands},a,\n${commands},a,${commands}\n`, 'csv');
  // In place of a terminal.
  const environment = { NODE_OPTIONS: '--import=data:text/javascript,process.stdout.isTTY=true' };
  for (const { output } of [await runImport(file), await runBooks(['export'], { environment })]) {
    expect(output).toContain(String.raw`\u001b]0;x\u0007\u009b31m`);
    expect(output).not.toMatch(/(?!\n)\p{Cc}/u);
  }
});

test.each(['-', 'fifo'])(
  'an import reads %s once, leaves no copy, and shows books that tell the encoding',
  async (path) => {
    const author = randomUUID();
    const plain = `Plain;${author};1\r\n`.repeat(4);
    const input = Buffer.from(`title;author;year\r\n${plain}Caf\xe9;${author};1\r\n`, 'latin1');
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    if (path === 'fifo') void writeFile(join(folder, 'fifo'), input);

    const options = { input, environment: { TMPDIR: folder } };
    const ended = await runBooks(['import', path, '--encoding', 'latin1'], options);

    expect(ended).toEqual(ending(0, `\nThe first books beyond ASCII:\n  {"title":"Café","author":"${author}"`));
    expect(await readdir(folder)).toEqual(['fifo']);
    expect((await listBooks()).map(({ title }) => title).sort()).toEqual(['Café', ...Array(4).fill('Plain')]);
  },
);

test('a dry run reports columns, the first books and rejected rows, and needs no service', async () => {
  const rows = ['a;1;2', 'b;x;2', 'c;2;2', 'e;3;2', 'g;4;2'];
  const file = await writeText([`name;published;${unknownField}`, ...rows].join('\n'), 'csv');

  const without = Object.keys(aBook()).filter((name) => !['title', 'year'].includes(name));
  const options = ['--columns', 'title=name,year=published', '--without', `${without}`, '--dry-run'];
  const { exitCode, output } = await runImport(file, options, 'http://127.0.0.1:1');

  const [first, ...others] = ['a', 'c', 'e'].map(
    (title, index) => `  ${JSON.stringify(aBook({ title, year: index + 1 }))}`,
  );
  expect(output).toMatch(/^Columns \(utf-8, separated by ";"\):\n {2}title: "name"\n {2}author: no column, stored as/);
  expect(output.split('\n').slice(-9)).toEqual([
    `  ignored: "${unknownField}"`,
    'The first books:',
    first,
    expect.stringMatching(/^ {2}line 3: year is not .*: 'x'$/),
    ...others,
    '4 rows can become books; nothing was sent',
    '1 row rejected',
    '',
  ]);
  expect(exitCode).toBe(3);
});

test('of many rows that are rejected, the reasons of the first hundred are shown', async () => {
  const file = await writeText(`title,author,year\n${'A,B,no year\n'.repeat(150)}`, 'csv');

  const { output } = await runImport(file, ['--dry-run']);

  expect(output.match(/^ {2}line \d+: year is not/gm)).toHaveLength(100);
  expect(output).toContain('\n150 rows rejected; 50 of them are not shown\n');
});

test('--help shows the options', async () => {
  expect(await runBooks(['--help'])).toEqual(ending(0, /^Usage: npm run /));
});

const dryRunTaken = { environment: { npm_lifecycle_event: 'books', npm_config_dry_run: 'true' } };
const noCredentials = { environment: { BOOKS_USERNAME: undefined, BOOKS_PASSWORD: undefined } };
const elsewhere = { ...noCredentials, baseUrl: 'https://books.example' };
const wrongPassword = { environment: { BOOKS_PASSWORD: 'wrong' } };

test.each<[string, number, RegExp, (BooksOptions & { readonly path?: string })?]>([
  ['import nothing.csv', 1, /^cannot stat .*\/nothing\.csv: no such file or directory\n$/],
  ['export no/out.csv', 1, /^cannot open .*\/no\/out\.csv.*: no such file or directory\n$/],
  ['import ids.csv', 1, /^The file has ids\. .* with --new-ids, each row becomes a new one\n$/],
  ['import ok.csv --parallel 0', 2, /^--parallel cannot be 0\.\n--help .*\n$/],
  ['import /tmp', 1, /^cannot read \/tmp: illegal operation on a directory\n$/],
  ['import ok.csv --columns titel=x', 2, /^titel is not a field of books: title, author, .*year.*\n--help .*\n$/],
  ['import ok.csv --unquoted --quoted', 2, /^Give --unquoted or --quoted, not both\.\n--help .*\n$/],
  ['import ok.csv --separator ab', 2, /^--separator cannot be ab\.\n--help .*\n$/],
  ['import ok.csv also.txt', 2, /^import and export take one FILE at a time\.\n--help .*\n$/],
  ['import ok.csv --password other', 1, /as librarian: the service responded 401 Invalid credentials\n$/],
  ['import ok.csv --encoding morse', 2, /^--encoding cannot be morse\.\n--help .*\n$/],
  ['export out.json', 2, /^export writes CSV or NDJSON, not out\.json\.\n--help .*\n$/],
  [
    'import ok.csv',
    2,
    /^npm took --dry-run for itself\. .*: npm run books -- import FILE --dry-run\n--help .*\n$/,
    dryRunTaken,
  ],
  ['move', 2, /^Say what to do, as in: npm run books -- import books\.csv\n--help .*\n$/],
  [
    'import ok.csv',
    1,
    // Another service may listen there.
    /\n {2}\{.*\}\n(?:(no response from .*:8080\/token \(ECONNREFUSED\))(; trying again)?\n\1|cannot use .*:8080 .*)\n$/,
    { baseUrl: '' },
  ],
  ['export', 1, /\ncannot use .*\/v1 as .*: the service responded 404 Not found\n$/, { path: '/v1' }],
  ['import ok.csv', 1, /\ncannot use .*\/v1 as .*: the service responded 404 Not found\n$/, { path: '/v1' }],
  ['import ok.csv', 1, /as librarian: the service responded 401 Invalid credentials\n$/, wrongPassword],
  // On this machine they have defaults.
  ['import ok.csv', 1, /as admin: the service responded 401 Invalid credentials\n$/, noCredentials],
  [
    'import ok.csv',
    2,
    /^the base URL has to be (?!.*secret).*\n--help .*\n$/,
    { baseUrl: 'http://me:secret@localhost' },
  ],
  ['import ok.csv', 2, /^BOOKS_USERNAME and BOOKS_PASSWORD are needed\.\n--help .*\n$/, elsewhere],
])('one line says what is wrong with %s (%#)', async (command, code, message, { path = '', ...options } = {}) => {
  await writeFile(join(folder, 'ok.csv'), 'title,author,year\nEmma,,1\n');
  await writeFile(join(folder, 'ids.csv'), 'id,title,author,year\n7,Emma,,1\n');
  const args = command.split(' ').map((arg) => (arg.endsWith('.csv') ? join(folder, arg) : arg));

  const ended = await runBooks(args, { baseUrl: local.baseUrl + path, ...options });

  expect(ended).toEqual(ending(code, message));
  expect(ended.output).not.toContain('    at ');
});

const script = 'tools/books/main.ts';

/** Starts the tool with the credentials of the service. */
function start(args: readonly string[], options: BooksOptions = {}) {
  const { environment, input, baseUrl = local.baseUrl } = options;
  const { AUTH_USERNAME: BOOKS_USERNAME, AUTH_PASSWORD: BOOKS_PASSWORD } = testSettings;
  const env = { ...process.env, INIT_CWD: folder, BOOKS_USERNAME, BOOKS_PASSWORD, ...environment };
  return startCommand([script, ...args, ...(baseUrl && ['--base-url', baseUrl])], env, '.', input);
}

type BooksOptions = { environment?: NodeJS.ProcessEnv; input?: Buffer; baseUrl?: string };

const runBooks = (...options: Parameters<typeof start>) => start(...options).ended;

const runImport = (file: string, options: readonly string[] = [], baseUrl = local.baseUrl) =>
  runBooks(['import', file, ...options], { baseUrl });

/** What a command ends with. */
const ending = (exitCode: number | null, text: string | RegExp) => ({
  exitCode,
  output: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text),
});

/** Starts a gateway for the current test that selects a fault by the name of the request. */
async function openGateway(decide: (name: string) => Fate | Promise<Fate> | undefined) {
  const gateway = await startFaultyGateway(local.baseUrl, (name) => decide(name) ?? 'pass');
  onTestFinished(() => gateway.stop());
  return gateway;
}

/** Starts a gateway that counts the creates and selects a fault for each by its number. */
function countPosts(decide: (posts: number) => Fate | Promise<Fate> | undefined) {
  let posts = 0;
  return openGateway((name) => (name === 'POST /book' ? decide(++posts) : 'pass'));
}

function createBooks(count: number, titleOf = (index: number) => `Book ${index}`): BookFields[] {
  // Equal books in other tests would have the same keys.
  const author = randomUUID();
  const titles = Array.from({ length: count }, (_, index) => titleOf(index));
  return titles.map((title, index) => aBook({ title, author, year: title === 'The same' ? 1 : index }));
}

async function writeText(text: string, format: string) {
  const path = join(folder, `${randomUUID()}.${format}`);
  await writeFile(path, text);
  return path;
}

function writeCsv(books: readonly BookFields[]): Promise<string> {
  const lines = books.map(({ title, author, year }) => `${title},${author},${year}`);
  return writeText(['title,author,year', ...lines].join('\n'), 'csv');
}

/** The books of this test, unless another start is given. */
async function listBooks(after = lastId): Promise<Book[]> {
  return ((await local.send('GET', '/books')).envelope.data as Book[]).filter(({ id }) => id > after);
}

/** The fields of a book, in the order of the table of fields. */
function toFields(book: BookFields): BookFields {
  const { id: _, ...fields } = { id: 0, ...aBook(), ...book };
  return fields;
}

/** Compares books in any order. */
function expectFields(stored: readonly BookFields[], expected: readonly BookFields[]): void {
  const sorted = (books: readonly BookFields[]) => books.map((book) => JSON.stringify(toFields(book))).sort();
  expect(sorted(stored)).toEqual(sorted(expected));
}
