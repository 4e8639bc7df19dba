import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { unknownField } from '../../conformance/a-book.ts';
import type { Field } from '../../lib/fields.ts';
import { type FileOptions, openFile, readRows } from '../../tools/books/book-file.ts';
import { parseCell } from '../../tools/books/columns.ts';

const header = 'title,author,year\n';
const quoteFault = 'a quote is out of place';

const folder = await mkdtemp(join(tmpdir(), 'book-rows-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** @returns by its line the title, author and year of each row, or the reason of its rejection */
async function read(content: string | Buffer, options: Partial<FileOptions> = {}) {
  const path = join(folder, 'rows');
  await writeFile(path, content);
  const nothing = { format: undefined, encoding: undefined, separator: undefined, columns: {}, without: [] };
  const rows = await Array.fromAsync(readRows(await openFile(path, { ...nothing, ...options })));
  const found: Record<number, string | unknown[]> = {};
  for (const row of rows) {
    found[row.line] = 'reason' in row ? row.reason : [row.book.title, row.book.author, row.book.year];
  }
  return found;
}

test.each<[string, object]>([
  ['Emma,Jane Austen,1815\n\n"A ""B""",,-5', { 2: ['Emma', 'Jane Austen', 1815], 4: ['A "B"', '', -5] }],
  ['"a\nb",,1\r\n"a\r\nb",,7', { 2: ['a\nb', '', 1], 4: ['a\r\nb', '', 7] }],
  ['"Emma\nis "clever\nand rich",,1\n"x\ny",,1\n', { 2: quoteFault, 4: quoteFault, 5: ['x\ny', '', 1] }],
  // Quotes behind backslashes, where RFC 4180 makes no sense of them.
  ['"The \\"Real\\" One","A\\",1\n"C:\\","x",2\n', { 2: quoteFault, 3: ['C:\\', 'x', 2] }],
  ['"\\"All\\"","",3\n"a\\";\\"b","c\\\\d",4\n', { 2: ['"All"', '', 3], 3: ['a";"b', 'c\\\\d', 4] }],
])('each row of CSV is a book or rejected, under the line that it begins on: %j', async (content, rows) => {
  expect(await read(header + content)).toEqual(rows);
});

test('a year in CSV is a whole number, and 0 when it is empty', async () => {
  const cells = ['', '1965.0', ' 1965 ', '1.965e3', '-750.0', '9007199254740991'];
  const rows = await read(header + cells.map((cell) => `a,,${cell}\n`).join(''));
  expect(Object.values(rows).map((row) => row[2])).toEqual([0, 1965, 1965, 1965, -750, 2 ** 53 - 1]);
});

test('a cell is a text as it is, a listed text, a whole number or a boolean in any case; else it is missing or no value', () => {
  const read = (field: Field) =>
    ['', ' ', ' a ', '1.0', ' true', 'FALSE', 'constructor'].map((cell) => parseCell(field, cell));

  expect(read({ type: 'string', default: '' })).toEqual(['', ' ', ' a ', '1.0', ' true', 'FALSE', 'constructor']);
  expect(read({ type: 'integer', default: 0 })).toEqual([undefined, undefined, 'a', 1, 'true', 'FALSE', 'constructor']);
  const inPrint = read({ type: 'boolean', default: true });
  expect(inPrint).toEqual([undefined, undefined, 'a', '1.0', true, false, 'constructor']);
  const binding = read({ type: 'string', enum: ['a'], default: 'a' });
  expect(binding).toEqual([undefined, undefined, 'a', '1.0', 'true', 'FALSE', 'constructor']);
});

test.each([
  ['Emma,,about 1815', 'year is not a whole number up to 2^53-1: "about 1815"'],
  ['Emma,,1815.5', 'year is not a whole number up to 2^53-1: "1815.5"'],
  ['Emma,,9007199254740992', 'year is not a whole number up to 2^53-1: 9007199254740992'],
  ['Emma, or so,,1815', 'has 4 cells where the header has 3'],
  ['Emma', 'has 1 cell where the header has 3'],
  ['Em"ma,,1815', quoteFault],
  ['"Em"ma,,1815', quoteFault],
  ['"Emma,,1815', 'a quote is never closed'],
  ['Emma,"Jane,1815', 'a quote is never closed'],
  [`${'é'.repeat(200 * 1024 - 64)},a,1`, 'is larger than the 400 KB that a book can have'],
])('a wrong row of CSV is rejected and no other (%#)', async (record, reason) => {
  for (const [next, books] of [
    ['Next,,1', { 4: ['Next', '', 1] }],
    ['"Ne""xt","","1"', { 4: ['Ne"xt', '', 1] }],
    ['"Next, too",a,1\nX,"y",2', { 4: ['Next, too', 'a', 1], 5: ['X', 'y', 2] }],
  ] as const) {
    const rows = await read(`${header}Before,,0\n${record}\n${next}\n`);
    expect(rows).toEqual({ 2: ['Before', '', 0], 3: reason, ...books });
  }
});

test('rows are found behind a quote that is never closed in a large file', async () => {
  const count = 50_000;
  const rows = await read(`${header}"never closed,,1\n${'line of a large file,,1\n'.repeat(count)}`);
  expect(rows[2]).toBe('a quote is never closed');
  expect(rows[count + 2]).toEqual(['line of a large file', '', 1]);
});

test('the rows of CSV are those that csv-parse finds, wherever it finds no fault', async () => {
  const part = fc.constantFrom('a', '"', '""', ',', '\n', '\r\n', ' ', '"b"', '\\"', 'x,y\n');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: part, maxLength: 12 }), async (drawn) => {
      const text = `title,other\n${drawn}`;
      let expected: string[][];
      try {
        expected = parse(text, { skip_empty_lines: true, from_line: 2 });
      } catch {
        return;
      }
      if (expected.some((cells) => cells.length !== 2)) return;
      const rows = await read(text, { without: ['author', 'year'] });
      expect(Object.values(rows).map(([title]) => title)).toEqual(expected.map(([title]) => title));
    }),
    { numRuns: 1_000 },
  );
});

const chosen = { separator: ';', columns: { title: 't', author: 'a,TITLE' }, without: ['year'] as const };

test.each<[string, unknown[], Partial<FileOptions>?]>([
  ['\ufeff YEAR ,id,Title,AUTHOR\n1815,9,Emma,J\n', ['Emma', 'J', 1815]],
  ['Book Title;Author(s);Year\nA;J;1\n', ['A', '', 1], { without: ['author'] }],
  ['title\tauthor\tyear\nA, or so\tJ\t1\n', ['A, or so', 'J', 1]],
  ['sep=|\r\ntitle|author|year\r\nA|B|1\r\n', ['A', 'B', 1]],
  ['"sep=;"\ntitle;author;year\nA;B;1\n', ['A', 'B', 1]],
  ['title#author#year\nA#B#1\n', ['A', 'B', 1], { separator: '#' }],
  ['T;A,title\nx;y\n', ['x', 'y', 0], chosen],
  ['title,name,author,year\nA,N,B,1\n', ['N', 'B', 1], { columns: { title: 'Name' } }],
  ['author,title,year\nA,B,1\n', ['A', 'B', 1], { columns: { title: 'author', author: 'title' } }],
  ['Titel;Autor;Jahr\nA;J;1\n', ['A', 'J', 1]],
  ['titre;auteur;année\nA;J;1\n', ['A', 'J', 1]],
  ['Título;Autor;Año\nA;J;1\n', ['A', 'J', 1]],
  // goodbooks-10k and Book-Crossing
  ['authors,original_publication_year,original_title,title\n"H, R",-750.0,"",O', ['O', 'H, R', -750]],
  ['"Book-Title";"Book-Author";"Year-Of-Publication"\r\n"The \\"J\\"";"P";"2000"', ['The "J"', 'P', 2000]],
])('the columns of %j are found', async (content, book, options) => {
  expect(Object.values(await read(content, options))).toEqual([book]);
});

test.each<[string, string, Partial<FileOptions>?]>([
  [`${unknownField}\nEmma\n`, `no column for title, author, year among "${unknownField}"`],
  ['title,author\nEmma,1\n', 'no column for year among "title", "author"; name it'],
  ['title,Title,author,year\na,b,c,1\n', 'two columns are the title: "title", "Title"'],
  [header, 'no column for title among "title", "author", "year"', { columns: { title: 'Name' } }],
  ['"title,author,year\n', 'a quote is out of place in the header'],
  ['\n\n', 'the file is empty'],
  ['{"name":"Emma","pages":3}\n', 'no column for author, year among "name", "pages"'],
])('the columns of %j are not clear', async (content, reason, options) => {
  await expect(read(content, options)).rejects.toThrow(reason);
});

const text = `${header}Café “€” Čapek,Gödel,1\n`;
const utf16 = Buffer.from(text, 'utf16le');
const marked = Buffer.from(`\ufeff${text}`, 'utf16le');
const book = ['Café “€” Čapek', 'Gödel', 1];
const windows1252 = { encoding: 'windows-1252' };

test.each<[string, string | Buffer, unknown[], Partial<FileOptions>?]>([
  ['UTF-8', text, book],
  ['UTF-8 with a byte order mark', `\ufeff${text}`, book],
  ['UTF-16', utf16, book],
  ['UTF-16 with a byte order mark', marked, book],
  ['UTF-16, high bytes first', Buffer.from(utf16).swap16(), book],
  ['UTF-16, high bytes first, with a byte order mark', Buffer.from(marked).swap16(), book],
  ['Windows-1252', Buffer.from(`${header}\x93\x80\x94,\xe9,1\n`, 'latin1'), ['“€”', 'é', 1]],
  ['the option', `${header}é,,1\n`, ['Ã©', '', 1], windows1252],
  ['a byte order mark in spite of the option', `\ufeff${text}`, book, windows1252],
])('the encoding of a file is that of %s', async (_name, content, row, options) => {
  expect(await read(content, options)).toEqual({ 2: row });
});

test('rows that are not in the encoding, or have lost texts, are rejected and no others', async () => {
  const bytes = [text, Buffer.from('Caf\xe9,,1\n', 'latin1'), 'É,è,2\n', '\ufffd,,1\n'];
  const rows = await read(Buffer.concat(bytes.map((part) => Buffer.from(part))));
  const lost = 'has bytes that are not utf-8, or U+FFFD';
  expect(rows).toEqual({ 2: book, 3: lost, 4: ['É', 'è', 2], 5: lost });
});

test.each(['utf8', 'utf16le'] as const)('in %s, rows at the edges of chunks are whole', async (encoding) => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `é${'x'.repeat(index % 7)},ö,${index}\n`);
  const rows = await read(Buffer.from(header + lines.join(''), encoding));
  expect(Object.values(rows).map((row) => `${row}\n`)).toEqual(lines);
});

test('lines of NDJSON are books, with defaults for missing members, and other names for fields', async () => {
  const content = '{"title":"Emma","year":1815,"id":4}\r\n\n{}\n{"author":"\u2028"}';
  const books = { 1: ['Emma', '', 1815], 3: ['', '', 0], 4: ['', '\u2028', 0] };
  expect(await read(content, { format: 'ndjson' })).toEqual(books);
  const named = '{"name":"Emma","authors":"Jane Austen","published":1815}\n';
  expect(await read(named, { columns: { year: 'published' } })).toEqual({ 1: ['Emma', 'Jane Austen', 1815] });
});

test.each([
  ['{"title":"Emma"', 'is not a JSON object'],
  ['["Emma"]', 'is not a JSON object'],
  ['{"Titel":"Emma"}', 'has no "title", but "Titel"'],
  ['{"title":null}', 'title is not text: null'],
  ['{"author":7}', 'author is not text: 7'],
  ['{"title":"\\ud800"}', 'title is not text: "\\ud800"'],
  ['{"year":"1815"}', 'year is not a whole number up to 2^53-1: "1815"'],
  [`{"title":"${'x'.repeat(410 * 1024)}"}`, 'is larger than the 400 KB that a book can have'],
])('a wrong line of NDJSON is rejected and no other (%#)', async (line, reason) => {
  const all = '{"title":"","author":"","year":1}\n';
  const rows = await read(`${all}${line}\n${all}`, { format: 'ndjson' });
  expect(rows).toEqual({ 1: ['', '', 1], 2: reason, 3: ['', '', 1] });
});

test('a line of NDJSON over 4 MB ends the reading', async () => {
  const line = `{"title":"${'x'.repeat(5 * 1024 * 1024)}"}\n`;
  await expect(read(`{}\n${line}`, { format: 'ndjson' })).rejects.toThrow('line 2 is over 4 MB');
});
