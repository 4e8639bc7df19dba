import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { allows, unknownField } from '../../../../conformance/a-book.ts';
import { bookFields } from '../../../../lib/books/book.ts';
import type { Field, Kind } from '../../../../lib/fields.ts';
import { type FileOptions, openFile, readRows } from '../../../../tools/books/book-file.ts';
import { fieldNames, parseCell } from '../../../../tools/books/columns.ts';

const header = 'title,author,year\n';
const outOfPlace = /a quotation mark is out of place/;
const neverClosed = /a quotation mark is never closed$/;

/** Those that somebody adds to the table of fields: the files of these tests are older. */
const addedFields = fieldNames.filter((name) => !['title', 'author', 'year'].includes(name));

const usual: FileOptions = {
  encoding: 'utf-8',
  separator: undefined,
  quotes: undefined,
  columns: {},
  without: addedFields,
};

const folder = await mkdtemp(join(tmpdir(), 'book-rows-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** @returns by its line the title, author and year of each row, or the reason of its rejection */
async function read(content: string | Buffer, options: Partial<FileOptions> = {}, name = 'rows') {
  const path = join(folder, name);
  await writeFile(path, content);
  const file = await openFile(path, { ...usual, ...options });
  const found: Record<number, string | unknown[]> = {};
  for await (const row of readRows(file)) {
    found[row.line] = 'reason' in row ? row.reason : [row.book.title, row.book.author, row.book.year];
  }
  return found;
}

test.each<[string, object]>([
  ['Emma,Jane Austen,1815\n\n"A ""B""",,7', { 2: ['Emma', 'Jane Austen', 1815], 4: ['A "B"', '', 7] }],
  ['"a\nb",,1\r\n\r\n"a\r\nb",,7\nx,,\n', { 2: ['a\nb', '', 1], 5: ['a\r\nb', '', 7], 7: ['x', '', 0] }],
  ['A\\,"\\",1\n', { 2: ['A\\', '\\', 1] }],
  ['A,"B\rC",1\rD,,2\r\n\r\rE,,3', { 2: ['A', 'B\rC', 1], 4: ['D', '', 2], 7: ['E', '', 3] }],
  [',,\n , ,\n"","",""\nA,,\n,,', { 5: ['A', '', 0] }],
])('each row of CSV is a book, under the line that it begins on: %j', async (content, rows) => {
  expect(await read(header + content)).toEqual(rows);
});

test('a cell is a text as it is, a listed text, a whole number or a boolean in any case; else it is missing or no value', () => {
  const cells = ['', ' ', ' a ', '1.0', ' true', 'FALSE', 'untrue', 'falsely'];
  const read = (type: Kind, more = {}) => cells.map((cell) => parseCell({ type, ...more } as Field, cell));
  const expected: Readonly<Record<Kind, readonly unknown[]>> = {
    string: cells,
    integer: [undefined, undefined, 'a', 1, 'true', 'FALSE', 'untrue', 'falsely'],
    boolean: [undefined, undefined, 'a', '1.0', true, false, 'untrue', 'falsely'],
  };

  for (const [type, values] of Object.entries(expected)) expect(read(type as Kind)).toEqual(values);
  const integers = ['1965.0', ' 1965 ', '-750.00', '007', '9007199254740991'];
  expect(integers.map((cell) => parseCell({ type: 'integer', default: 0 }, cell))).toEqual([
    1965,
    1965,
    -750,
    7,
    2 ** 53 - 1,
  ]);
  const ofList = [undefined, undefined, 'a', '1.0', 'true', 'FALSE', 'untrue', 'falsely'];
  expect(read('string', { enum: ['a'] })).toEqual(ofList);
});

const large = 'é'.repeat(200 * 1024 - 64);

test.each<readonly [string, RegExp]>([
  ['Emma,,about 1815', /^year is not a whole number .*: 'about 1815'$/],
  ['Emma,,1815.5', /^year is not a whole number .*: '1815\.5'$/],
  ['Emma,,1815.00000000000000000001', /^year is not a whole number .*: '1815\.0{19}1'$/],
  ['Emma,,9007199254740992', /^year is not a whole number .*: 9007199254740992$/],
  [`Emma,,x${'9'.repeat(100)}`, /^year is not a whole number .*: 'x9{28}$/],
  ['Emma, or so,,1815', /^has 4 cells where the header has 3$/],
  ['Emma', /^has 1 cell where the header has 3$/],
  ['\ufefftitle, author ,year', /^is the header again$/],
  ...(allows({ title: large }) ? [[`${large},a,1`, /^is larger than the 400 KB that a book can have$/] as const] : []),
])('a wrong row of CSV is rejected and no other (%#)', async (record, reason) => {
  const rows = await read(`${header}Before,,0\n${record}\n"Ne""xt",,1\n`);
  expect(rows).toEqual({ 2: ['Before', '', 0], 3: expect.stringMatching(reason), 4: ['Ne"xt', '', 1] });
});

// Nobody knows where the next row begins.
test.each([
  ['Em"ma,,1\nNext,,1\n', outOfPlace],
  ['"Em"ma,,1\nNext,,1\n', outOfPlace],
  ['"The \\"Real\\" One",,1\n', outOfPlace],
  ['"Emma,,1\nNext,"a",1\n', outOfPlace],
  ['"Emma,,1\n"Ne""xt","","1"\n', outOfPlace],
  ['"Emma,,1\nNext,a,1\n', neverClosed],
  ['Emma,"Jane,1', neverClosed],
  [`"Emma,,1\n${'Next,a,1\n'.repeat(500_000)}"`, /never closed, or the row is over 4 MB/],
])('a misplaced quotation mark ends the reading, with the line of its row (%#)', async (records, problem) => {
  const reading = read(`${header}"a\r\nb",,0\r\n\n${records}`);
  await expect(reading).rejects.toThrow(problem);
  await expect(reading).rejects.toThrow(/^line 5: /);
});

test.each<[string, unknown[], Partial<FileOptions>?]>([
  ['\ufeff YEAR ,id,Title,AUTHOR\n1815,9,Emma,J\n', ['Emma', 'J', 1815]],
  ['\r\n;;\r\ntitle;author;year\r\nA, or so;J;1\r\n', ['A, or so', 'J', 1]],
  ['title\tauthor\tyear\nA, or so\tJ\t1\n', ['A, or so', 'J', 1]],
  ['title#author#year\nA#B#1\n', ['A', 'B', 1], { separator: '#' }],
  ['t;A,title\nx;y\n', ['x', 'y', 0], { separator: ';', columns: { title: 'T', author: 'a,TITLE' } }],
  [`title,author,${unknownField}\nA,B,1\n`, ['A', 'B', 0], { without: [...addedFields, 'year'] }],
  ['title,name,author,year\nA,N,B,1\n', ['N', 'B', 1], { columns: { title: 'Name' } }],
  ['author,title,year\nA,B,1\n', ['A', 'B', 1], { columns: { title: 'author', author: 'title' } }],
  ['title\nA\tB\n', ['A\tB', '', 0], { without: [...addedFields, 'author', 'year'] }],
])('the columns of %j are found', async (content, book, options) => {
  expect(Object.values(await read(content, options))).toEqual([book]);
});

test.each([
  ['books.ndjson', header, 'ndjson'],
  ['books.JSONL', header, 'ndjson'],
  ['books.ndjson.txt', header, 'csv'],
  ['books.tsv', `{,${header}`, 'csv'],
  ['books.csv.txt', '{}', 'ndjson'],
  ['books', ' \t{}', 'ndjson'],
  ['books', header, 'csv'],
])('the name, and otherwise the start, tells the format of %s with %j: %s', async (name, content, format) => {
  const path = join(folder, name);
  await writeFile(path, content);

  expect((await openFile(path, usual)).format).toBe(format);
});

test.each([',', ';', '\t', '|'])(
  'names of columns may be in quotation marks, and have any separator or line end there (%j)',
  async (separator) => {
    for (const names of [
      ['"title"', 'author', 'year'],
      ['title', '"author"', '"year"', '"a, b; c\td, e; f\tg"'],
      ['"a, b; c\td"', '"title"', '"author"', '"year"'],
      ['PK', '"title"', '"author"', '"year"'],
      ['"a\nb\r\nc"', 'title', 'author', 'year'],
      ['title', 'author', 'year', '"a ""b"", c"'],
      ['title', 'author', 'year', '""'],
    ]) {
      const cells = names.map(
        (name) => ({ title: '"A ""B"""', author: '"C"', year: '"1"' })[name.replaceAll('"', '')] ?? 'x',
      );
      const content = `\ufeff${names.join(separator)}\r\n${cells.join(separator)}`;
      expect(Object.values(await read(content, { quotes: 'enclosing' })), `${names}`).toEqual([['A "B"', 'C', 1]]);
    }
  },
);

test('a name may have more of other separators than the header has of its own', async () => {
  expect(await read('title;author;year;a, b, c, d, e\nA;B;1;x\n')).toEqual({ 2: ['A', 'B', 1] });
});

test('a line end in a name may be beyond the first chunk of the file', async () => {
  expect(await read(`"${'x'.repeat(70_000)}\n",title,author,year\nX,A,B,1\n`)).toEqual({ 3: ['A', 'B', 1] });
});

const marks = ['"Heroes"', '"Say "Hi"', 'The 5" disc', '"A', 'B"', '""', '"', "'n' \\t"];

test.each([',', ';', '\t'])('with unquoted cells, a quotation mark is text (%j)', async (separator) => {
  const lines = marks.map((mark) => [mark, mark, '1'].join(separator));
  const text = [['title', 'author', 'year'].join(separator), ...lines].join('\r\n');
  const rows = await read(text, { quotes: 'text' });
  expect(Object.values(rows)).toEqual(marks.map((mark) => [mark, mark, 1]));
});

test.each([
  ['"Heroes"\tDavid\t1977\n', 3],
  ['A\t"B"\t1\n', 3],
  ['"Now\tA\t1\nB\tC\t2\nThen"\tD\t3\n', 3],
  ['"Hello, ""you"""\tA\t1\n', 3],
])('a tab-separated file whose quotation marks may be text is refused: %j', async (records, line) => {
  const content = `title\tauthor\tyear\nFirst\tA\t1\n${records}`;
  await expect(read(content)).rejects.toThrow(
    `line ${line}: quotation marks are text in some tab-separated files, and enclose cells in others; add --unquoted or --quoted`,
  );
  expect(Object.values(await read(content, { quotes: 'enclosing' }))).not.toEqual(
    Object.values(await read(content, { quotes: 'text' })),
  );
});

test('in a tab-separated file, quotation marks in the header say that they enclose cells', async () => {
  const content = '"title"\t"author"\t"year"\n"A, ""B"""\t"C\tD"\t"1"\n';
  expect(await read(content)).toEqual({ 2: ['A, "B"', 'C\tD', 1] });
});

test('quotation marks within the cells of a tab-separated file are text', async () => {
  const rows = 'title\tauthor\tyear\nThe 5" disc\tA\t1\n';
  await expect(read(rows)).rejects.toThrow(/^line 2: .*; add --unquoted if quotation marks are text$/);
  // Elsewhere, that would rather store marks that enclose cells.
  await expect(read(rows.replaceAll('\t', ','))).rejects.toThrow(/^line 2: .* double each one in it$/);
});

test.each<[string, string | Buffer, string]>([
  ['rows.csv', '[{"title":"Emma"}]', 'is JSON; NDJSON has one book a line, as from jq -c'],
  ['rows.ndjson', ' [\n{"title":"Emma"},\n{}]', 'is JSON; NDJSON has one book a line, as from jq -c'],
  ['rows.json', '[]', 'is JSON; NDJSON has one book a line, as from jq -c'],
  ['rows.json', '{\n  "title": "Emma"\n}', 'is JSON; NDJSON has one book a line, as from jq -c'],
  ['rows.csv', Buffer.from(header, 'utf16le'), 'is UTF-16: add --encoding utf-16le'],
  ['rows.csv', Buffer.from(`\ufeff${header}`, 'utf16le'), 'is UTF-16: add --encoding utf-16le'],
  ['rows.csv', Buffer.from(header, 'utf16le').swap16(), 'is UTF-16: add --encoding utf-16be'],
  ['rows.ndjson', Buffer.from('{"title":"Émile"}', 'utf16le'), 'is UTF-16: add --encoding utf-16le'],
  [
    'rows.csv',
    Buffer.from('PK\x03\x04\x14\0\x06\0\x08\0', 'latin1'),
    'is a workbook or another ZIP file: save it as CSV in UTF-8',
  ],
  ['rows.xls', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1'), 'is a workbook or another ZIP file: save it'],
  ['rows.mrc', '00714cam a2200205 a 4500001001300000', 'is MARC: save it as CSV in UTF-8'],
  ['rows.xml', '\ufeff<?xml version="1.0"?>\n<collection>', 'is XML or HTML: save it'],
  ['rows.bib', '\n% Encoding: UTF-8\n\n@Book{emma, title={Emma}}', 'is BibTeX or RIS: save it'],
  ['rows.ris', '\ufeffTY  - BOOK\r\nTI  - Emma\r\n', 'is BibTeX or RIS: save it'],
  ['rows.csv.gz', gzipSync(header), 'is compressed with gzip: unpack it first'],
])('%s with what is neither CSV nor NDJSON says what it is (%#)', async (name, content, message) => {
  await expect(read(content, {}, name)).rejects.toThrow(`${join(folder, name)} ${message}`);
});

test.each<[string, Partial<FileOptions>, boolean]>([
  ['Id,title,author,year\n7,Emma,A,1\n', {}, true],
  ['title,author,year,book id\nEmma,A,1,7\n', {}, false],
  ['title,author,id\nEmma,A,1815\n', { columns: { year: 'id' } }, false],
  ['{"id":7,"title":"Emma","author":"A","year":1}\n', {}, true],
  ['{"title":"\\"id\\":","author":"A","year":1}\n', {}, false],
])('a file has ids, or another column of that name: %j', async (content, options, hasIds) => {
  const path = join(folder, 'ids');
  await writeFile(path, content);

  expect(await openFile(path, { ...usual, ...options })).toMatchObject({ hasIds });
});

test('a message quotes the start of a long header alone', async () => {
  const error = await read('x'.repeat(3 * 1024 * 1024)).catch((error: Error) => error);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^no column "title", .* in the first row, .*: "x+…; name each/),
  });
  expect(`${error}`.length).toBeLessThan(600);
});

test.each([
  [`title,author,year,x\nGödel,A,1,\nB,C,2,\xff\nD,E,3,\n`, /^line 3 is damaged UTF-8: .* iconv -c -f utf-8 -t utf-8/],
  [
    'title,author,year,x\r\n\xe2\x82,A,1,\r\nGödel,C,2,\r\n\xff,E,3,\xff\r\n\xff,E,3,\r\nö,,\r\nö,,',
    /^line 2 and 2 others are damaged UTF-8: /,
  ],
])('a damaged file is refused with the line, and with what mends it', async (content, message) => {
  const bytes = Buffer.concat(
    content
      .split('ö')
      .flatMap((part, index) =>
        index ? [Buffer.from('ö'), Buffer.from(part, 'latin1')] : [Buffer.from(part, 'latin1')],
      ),
  );
  const error = await read(bytes).catch((error: Error) => error.message);
  expect(error).toMatch(message);
  expect(error).not.toContain('--encoding');
});

test.each<[string, string | RegExp, Partial<FileOptions>?]>([
  [
    'Emma,Jane Austen,1815\nDune,Frank Herbert,1965\n',
    /^no column "title", "author", "year".* in the first row, which has to be the header: "Emma", "Jane Austen", "1815"; name each, as in --columns title="Column name",author="Column name",year="Column name"/,
  ],
  ['title,author,Published\nA,B,1\n', /^no column "year" in .* confirm its absence with --without year$/],
  ['title,author\nA,B\n', /^no column "Year" in .*: "title", "author"/, { columns: { year: 'Year' } }],
  ['title,Title,author,year\na,b,c,1\n', 'two columns are the title: "title", "Title"'],
  [header, /^no column "Name" in .*: "title", "author", "year"/, { columns: { title: 'Name' } }],
  ['"title,author,year\n', 'line 1: a quotation mark is never closed'],
  ['\n \n', 'rows is empty'],
  [`sep=;\n${header}`, /begins with "sep=;", a line for Excel alone: delete it$/],
])('the columns of %j are not clear', async (content, reason, options) => {
  await expect(read(content, options)).rejects.toThrow(reason);
});

const text = `${header}Café “€” Čapek,Gödel,1\n`;
const book = ['Café “€” Čapek', 'Gödel', 1];

test.each<[string, string | Buffer, unknown[], string]>([
  ['UTF-8 with a byte order mark', `\ufeff${text}`, book, 'utf-8'],
  ['UTF-8 with U+FFFD', `${header}\ufffd,,1\n`, ['\ufffd', '', 1], 'utf-8'],
  ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${text}`, 'utf16le'), book, 'utf-16le'],
  ['Windows-1252', Buffer.from(`${header}\x93\x80\x94,\xe9,1\n`, 'latin1'), ['“€”', 'é', 1], 'windows-1252'],
])('a file can be %s', async (_name, content, row, encoding) => {
  expect(await read(content, { encoding })).toEqual({ 2: row });
});

test.each<[string, Buffer, string, string]>([
  [
    'Latin-1',
    Buffer.from(`${header}${'x,,1\r\n'.repeat(50_000)}Caf\xe9,,1\n`, 'latin1'),
    'utf-8',
    'line 50002 has bytes',
  ],
  [
    'GBK with a line that is valid UTF-8',
    Buffer.from(`${header}\xd2\xbb,,1\n\xba\xec\n\xc3\xce\n`, 'latin1'),
    'utf-8',
    'line 3 has bytes',
  ],
  ['UTF-8 that is cut off', Buffer.from(`${header}Café`).subarray(0, -1), 'utf-8', 'line 2 has bytes'],
  ['UTF-16 that is cut off', Buffer.from(text, 'utf16le').subarray(0, -1), 'utf-16le', 'rows has bytes'],
])('bytes in another encoding end the reading, with what helps: %s', async (_name, content, encoding, where) => {
  const reading = read(content, { encoding });
  await expect(reading).rejects.toThrow(where);
  await expect(reading).rejects.toThrow(
    `that are not ${encoding}: name the encoding of the file, and look at the first books`,
  );
});

test.each(['utf-8', 'utf-16le'] as const)('in %s, rows at the edges of chunks are whole', async (encoding) => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `é${'x'.repeat(index % 7)},ö${index},0\n`);
  const rows = await read(Buffer.from(header + lines.join(''), encoding), { encoding });
  expect(Object.values(rows).map((row) => `${row}\n`)).toEqual(lines);
});

test('a file from before a field was added needs no option: no column of another name can have its values', async () => {
  const without: [] = [];
  const { title, author, year } = bookFields;
  const defaults = [title, author, year].map((field) => field.default);

  for (const [index, field] of (['title', 'author', 'year'] as const).entries()) {
    const value = ['Emma', 'Jane Austen', 1815][index];
    const book: unknown[] = defaults.with(index, value as never);
    expect(await read(`Id,${field}\n7,${value}\n`, { without })).toEqual({ 2: book });
    expect(await read(JSON.stringify({ id: 7, [field]: value }), { without })).toEqual({ 1: book });
  }
});

test('lines of NDJSON are books', async () => {
  const content = '{"title":"Emma","author":"","year":1815,"id":4}\r\n \r\n{"year":7,"author":"\u2028","title":""}';
  const books = { 1: ['Emma', '', 1815], 3: ['', '\u2028', 7] };
  expect(await read(content)).toEqual(books);
  const named = '{"name":"Emma"}\n{"name":"Dune","year":1965}\n';
  const options = { columns: { title: 'name' }, without: [...addedFields, 'author', 'year'] as const };
  expect(await read(named, options)).toEqual({ 1: ['Emma', '', 0], 2: ['Dune', '', 0] });
});

test.each([
  ['{"title":"Emma"', /^is not a JSON object$/],
  ['["Emma"]', /^is not a JSON object$/],
  ['{"titel":"Emma","author":"","year":1}', /^has no "title"; --without title allows that$/],
  ['{"title":"","author":"","Published":1}', /^has no "year"; --without year allows that$/],
  ['{"title":null,"author":"","year":1}', /^title is not text.*: null$/],
  ['{"title":"\\ud800","author":"","year":1}', /^title is not text.*: '\\ud800'$/],
  [
    `{"title":${'['.repeat(10_000)}${']'.repeat(10_000)},"author":"","year":1}`,
    /^title is not text.*: \[ \[ \[ \[Array\] \] \] \]$/,
  ],
  ['{"title":"","author":"","year":"1815"}', /^year is not a whole number .*: '1815'$/],
  ['{"title":"","author":"","year":2020.5}', /^year is not a whole number .*: 2020\.5$/],
])('a wrong line of NDJSON is rejected and no other (%#)', async (line, reason) => {
  const all = '{"title":"","author":"","year":1}\n';
  const rows = await read(`${all}${line}\n${all}`, {}, 'rows.ndjson');
  expect(rows).toEqual({ 1: ['', '', 1], 2: expect.stringMatching(reason), 3: ['', '', 1] });
});

test('a line of NDJSON over 4 MB ends the reading', async () => {
  const line = `{"title":"${'x'.repeat(5 * 1024 * 1024)}"}\n`;
  await expect(read(`{}\n${line}`, {}, 'rows.ndjson')).rejects.toThrow('line 2 is over 4 MB');
});
