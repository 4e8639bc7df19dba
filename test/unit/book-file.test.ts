import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unknownField } from '../../conformance/a-book.ts';
import { anyText } from '../../conformance/any-text.ts';
import { type FileOptions, openFile, readRows } from '../../tools/books/book-file.ts';

const header = 'title,author,year\n';
const quoteFault = 'a quote is out of place';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'book-rows-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** @returns each row as its line, and its title, author and year or the reason of its rejection */
async function read(content: string | Buffer, options: Partial<FileOptions> = {}): Promise<unknown[][]> {
  const path = join(folder, 'rows');
  await writeFile(path, content);
  const nothing = { format: undefined, encoding: undefined, separator: undefined, columns: {}, without: [] };
  const rows = await Array.fromAsync(readRows(await openFile(path, { ...nothing, ...options })));
  return rows.map((row) => {
    if ('reason' in row) return [row.line, row.reason];
    const { title, author, year } = row.book;
    return [row.line, title, author, year];
  });
}

describe('the rows of a CSV file', () => {
  test.each<[string, unknown[][]]>([
    [
      'Emma,Jane Austen,1815\n\n"Two\nlines","A ""B""",-5\r\n"a\r\nb",,7',
      [
        [2, 'Emma', 'Jane Austen', 1815],
        [4, 'Two\nlines', 'A "B"', -5],
        [6, 'a\r\nb', '', 7],
      ],
    ],
    [
      '"Emma\nwho is "handsome"\nclever, and rich",,1815\n"Two\nlines",,1\n',
      [
        [2, quoteFault],
        [4, quoteFault],
        [5, 'Two\nlines', '', 1],
      ],
    ],
    // Quotes behind backslashes, where RFC 4180 makes no sense of them.
    [
      '"The \\"Real\\" One","A\\",1\n"C:\\","x",2\n"\\"All\\"","",3\n"a\\";\\"b","c\\\\d",4\n',
      [
        [2, quoteFault],
        [3, 'C:\\', 'x', 2],
        [4, '"All"', '', 3],
        [5, 'a";"b', 'c\\\\d', 4],
      ],
    ],
  ])('are books or rejected, under the lines that they begin on: %j', async (content, rows) => {
    expect(await read(header + content)).toEqual(rows);
  });

  test('have a whole number for a year, and 0 for none', async () => {
    const cells = ['', '1965.0', ' 1965 ', '1.965e3', '-750.0', '9007199254740991'];
    const rows = await read(header + cells.map((cell) => `a,,${cell}\n`).join(''));
    expect(rows.map((row) => row[3])).toEqual([0, 1965, 1965, 1965, -750, 2 ** 53 - 1]);
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
    [`${'é'.repeat(200 * 1024 - 128)},a,1`, 'is larger than the 400 KB that a book can have'],
  ])('are rejected one by one (%#)', async (record, reason) => {
    for (const [next, ...books] of [
      ['Next,,1', [4, 'Next', '', 1]],
      ['"Ne""xt","","1"', [4, 'Ne"xt', '', 1]],
      ['"Next, too",a,1\nX,"y",2', [4, 'Next, too', 'a', 1], [5, 'X', 'y', 2]],
    ]) {
      const rows = await read(`${header}Before,,0\n${record}\n${next}\n`);
      expect(rows).toEqual([[2, 'Before', '', 0], [3, reason], ...books]);
    }
  });

  test('are found behind a quote that is never closed in a large file', async () => {
    const count = 50_000;
    const rows = await read(`${header}"never closed,,1\n${'line of a large file,,1\n'.repeat(count)}`);
    expect(rows[0]).toEqual([2, 'a quote is never closed']);
    expect(rows.at(-1)).toEqual([count + 2, 'line of a large file', '', 1]);
  });

  test('hold whatever texts another program quotes as RFC 4180 says', async () => {
    const texts = fc.array(fc.tuple(anyText, anyText), { minLength: 1, maxLength: 5 });
    const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(',', ';', '\t'), async (books, separator) => {
        const lines = books.map((book) => [...book.map(quote), '1'].join(separator));
        const rows = await read([['title', 'author', 'year'].join(separator), ...lines].join('\r\n'));
        expect(rows.map(([, ...row]) => row)).toEqual(
          books.map((book) =>
            book.join('').includes('\ufffd') ? [expect.stringContaining('U+FFFD')] : [...book, 1],
          ),
        );
      }),
    );
  });

  test('are those that csv-parse finds, wherever it finds no fault', async () => {
    const part = fc.constantFrom('a', '"', '""', ',', '\n', '\r\n', ' ', '"b"', '\\"', 'x,y\n');
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const text = `title,other\n${parts.join('')}`;
        let expected: string[][];
        try {
          expected = parse(text, { skip_empty_lines: true, relax_column_count: false, from_line: 2 });
        } catch {
          return;
        }
        if (expected.some((cells) => cells.length !== 2)) return;
        const rows = await read(text, { without: ['author', 'year'] });
        expect(rows.map(([, title]) => title)).toEqual(expected.map(([title]) => title));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the columns of a file', () => {
  test.each<[string, Partial<FileOptions>, unknown[]]>([
    ['\ufeff YEAR ,id,Title,AUTHOR\n1815,9,Emma,J\n', {}, ['Emma', 'J', 1815]],
    ['Book Title;Author(s);Year\nA;J;1\n', { without: ['author'] }, ['A', '', 1]],
    ['title\tauthor\tyear\nA, or so\tJ\t1\n', {}, ['A, or so', 'J', 1]],
    ['sep=|\r\ntitle|author|year\r\nA|B|1\r\n', {}, ['A', 'B', 1]],
    ['"sep=;"\ntitle;author;year\nA;B;1\n', {}, ['A', 'B', 1]],
    ['title#author#year\nA#B#1\n', { separator: '#' }, ['A', 'B', 1]],
    [
      'T;A,title\nx;y\n',
      { separator: ';', columns: { title: 't', author: 'a,TITLE' }, without: ['year'] },
      ['x', 'y', 0],
    ],
    ['title,name,author,year\nA,N,B,1\n', { columns: { title: 'Name' } }, ['N', 'B', 1]],
    ['author,title,year\nA,B,1\n', { columns: { title: 'author', author: 'title' } }, ['A', 'B', 1]],
    ['Titel;Autor;Jahr\nA;J;1\n', {}, ['A', 'J', 1]],
    ['titre;auteur;année\nA;J;1\n', {}, ['A', 'J', 1]],
    ['Título;Autor;Año\nA;J;1\n', {}, ['A', 'J', 1]],
    // goodbooks-10k and Book-Crossing
    ['authors,original_publication_year,original_title,title\n"H, R",-750.0,"",O', {}, ['O', 'H, R', -750]],
    [
      '"Book-Title";"Book-Author";"Year-Of-Publication"\r\n"The \\"J\\"";"P";"2000"',
      {},
      ['The "J"', 'P', 2000],
    ],
  ])('are found in %j', async (content, options, book) => {
    expect(await read(content, options)).toEqual([[expect.any(Number), ...book]]);
  });

  test.each([
    [`${unknownField}\nEmma\n`, {}, `no column for title, author, year among "${unknownField}"`],
    ['title,author\nEmma,1\n', {}, 'no column for year among "title", "author"; name it'],
    ['title,Title,author,year\na,b,c,1\n', {}, 'two columns are the title: "title", "Title"'],
    [header, { columns: { title: 'Name' } }, 'no column for title among "title", "author", "year"'],
    ['"title,author,year\n', {}, 'a quote is out of place in the header'],
    ['\n\n', {}, 'the file is empty'],
    ['{"name":"Emma","pages":3}\n', {}, 'no column for author, year among "name", "pages"'],
  ])('have to be clear: %j', async (content, options, reason) => {
    await expect(read(content, options)).rejects.toThrow(reason);
  });
});

describe('the encoding of a file', () => {
  const text = `${header}Café “€” Čapek,Gödel,1\n`;
  const utf16 = Buffer.from(text, 'utf16le');
  const marked = Buffer.from(`\ufeff${text}`, 'utf16le');
  const book = [2, 'Café “€” Čapek', 'Gödel', 1];
  const lost = 'has bytes that are not utf-8, or U+FFFD';

  test.each<[string, string | Buffer, Partial<FileOptions>, unknown[]]>([
    ['UTF-8', text, {}, book],
    ['UTF-8 with a byte order mark', `\ufeff${text}`, {}, book],
    ['UTF-16', utf16, {}, book],
    ['UTF-16 with a byte order mark', marked, {}, book],
    ['UTF-16, high bytes first', Buffer.from(utf16).swap16(), {}, book],
    ['UTF-16, high bytes first, with a byte order mark', Buffer.from(marked).swap16(), {}, book],
    ['Windows-1252', Buffer.from(`${header}\x93\x80\x94,\xe9,1\n`, 'latin1'), {}, [2, '“€”', 'é', 1]],
    ['the option', `${header}é,,1\n`, { encoding: 'windows-1252' }, [2, 'Ã©', '', 1]],
    ['a byte order mark in spite of the option', `\ufeff${text}`, { encoding: 'windows-1252' }, book],
  ])('is that of %s', async (_name, content, options, row) => {
    expect(await read(content, options)).toEqual([row]);
  });

  test('costs only the rows that are not in it, and those with U+FFFD, which are lost texts', async () => {
    const bytes = [text, Buffer.from('Caf\xe9,,1\n', 'latin1'), 'É,è,2\n', '\ufffd,,1\n'];
    const rows = await read(Buffer.concat(bytes.map((part) => Buffer.from(part))));
    expect(rows).toEqual([book, [3, lost], [4, 'É', 'è', 2], [5, lost]]);
  });

  test('does not change where chunks of the file begin', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `é${'x'.repeat(index % 7)},ö,${index}\n`);
    for (const encoding of ['utf8', 'utf16le'] as const) {
      const rows = await read(Buffer.from(header + lines.join(''), encoding));
      expect(rows.map(([, ...row]) => `${row.join(',')}\n`)).toEqual(lines);
    }
  });
});

describe('the rows of an NDJSON file', () => {
  test('are books; missing members are zero values, and other names may stand for the fields', async () => {
    const content = '{"title":"Emma","year":1815,"id":4}\r\n\n{}\n{"author":"\u2028"}';
    expect(await read(content, { format: 'ndjson' })).toEqual([
      [1, 'Emma', '', 1815],
      [3, '', '', 0],
      [4, '', '\u2028', 0],
    ]);
    const named = '{"name":"Emma","authors":"Jane Austen","published":1815}\n';
    expect(await read(named, { columns: { year: 'published' } })).toEqual([[1, 'Emma', 'Jane Austen', 1815]]);
  });

  test.each([
    ['{"title":"Emma"', 'is not a JSON object'],
    ['["Emma"]', 'is not a JSON object'],
    ['{"titel":"Emma"}', 'has no "title", but "titel"'],
    ['{"title":null}', 'title is not text: null'],
    ['{"author":7}', 'author is not text: 7'],
    ['{"title":"\\ud800"}', 'title is not text: "\\ud800"'],
    ['{"year":"1815"}', 'year is not a whole number up to 2^53-1: "1815"'],
    ['{"year":1815.5}', 'year is not a whole number up to 2^53-1: 1815.5'],
    ['{"year":9007199254740992}', 'year is not a whole number up to 2^53-1: 9007199254740992'],
    [`{"title":"${'x'.repeat(410 * 1024)}"}`, 'is larger than the 400 KB that a book can have'],
  ])('are rejected one by one (%#)', async (line, reason) => {
    const all = '{"title":"","author":"","year":1}\n';
    const rows = await read(`${all}${line}\n${all}`, { format: 'ndjson' });
    expect(rows).toEqual([
      [1, '', '', 1],
      [2, reason],
      [3, '', '', 1],
    ]);
  });

  test('are no longer than 4 MB', async () => {
    const line = `{"title":"${'x'.repeat(5 * 1024 * 1024)}"}\n`;
    await expect(read(`{}\n${line}`, { format: 'ndjson' })).rejects.toThrow('line 2 is over 4 MB');
  });
});
