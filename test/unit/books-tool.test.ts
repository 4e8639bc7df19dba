import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeTable, openTable, type Row, readRows, type TableOptions } from '../../tools/books/table.ts';
import { anyText } from '../support/any-text.ts';

const header = 'title,author,year\n';
const titleOnly: Partial<TableOptions> = { without: ['author', 'year'] };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'book-rows-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function open(content: string | Buffer, options: Partial<TableOptions> = {}) {
  const path = join(folder, 'rows');
  await writeFile(path, content);
  const nothing = { format: undefined, encoding: undefined, separator: undefined, columns: {}, without: [] };
  return openTable(path, { ...nothing, ...options });
}

async function read(content: string | Buffer, options: Partial<TableOptions> = {}): Promise<Row[]> {
  return Array.fromAsync(readRows(await open(content, options)));
}

describe('the rows of a CSV file', () => {
  test('are books, under the lines that they begin on', async () => {
    const rows = await read(`${header}Emma,Jane Austen,1815\n\n"Two\nlines","A ""B""",-5\r\n"a\r\nb",,7`);
    expect(rows).toMatchObject([
      { line: 2, book: { title: 'Emma', author: 'Jane Austen', year: 1815 } },
      { line: 4, book: { title: 'Two\nlines', author: 'A "B"', year: -5 } },
      { line: 6, book: { title: 'a\r\nb', author: '', year: 7 } },
    ]);
  });

  test.each([
    ['', 0],
    ['1965.0', 1965],
    [' 1965 ', 1965],
    ['1.965e3', 1965],
    ['-750.0', -750],
    ['9007199254740991', 2 ** 53 - 1],
  ])('have a whole number for a year, and 0 for none: %j', async (cell, year) => {
    expect(await read(`${header}a,,${cell}\n`)).toMatchObject([{ book: { year } }]);
  });

  test.each([
    ['Emma,,about 1815', 'year is not a whole number up to 2^53-1: "about 1815"'],
    ['Emma,,1815.5', 'year is not a whole number up to 2^53-1: "1815.5"'],
    ['Emma,,9007199254740992', 'year is not a whole number up to 2^53-1'],
    ['Emma, or so,,1815', 'has 4 cells where the header has 3'],
    ['Emma', 'has 1 cells where the header has 3'],
    ['Em"ma,,1815', 'a quote is out of place'],
    ['"Em"ma,,1815', 'a quote is out of place'],
    ['"Emma,,1815', 'a quote is never closed'],
    ['Emma,"Jane,1815', 'a quote is never closed'],
    [`${'é'.repeat(200 * 1024 - 128)},a,1`, 'is larger than the 400 KB that a book can have'],
  ])('are rejected one by one (%#)', async (record, reason) => {
    for (const next of ['Next,,1', '"Ne""xt","","1"', '"Next, too",a,1\nX,"y",2']) {
      const rows = await read(`${header}Before,,0\n${record}\n${next}\n`);
      expect(rows.slice(0, 2)).toMatchObject([
        { line: 2, book: { title: 'Before' } },
        { line: 3, reason: expect.stringContaining(reason) },
      ]);
      expect(rows.slice(2)).toHaveLength(next.split('\n').length);
      expect(rows.slice(2).every((row) => 'book' in row)).toBe(true);
    }
  });

  test('with a quote out of place are rejected with all their lines', async () => {
    const rows = await read(`${header}"Emma\nwho is "handsome"\nclever, and rich",,1815\n"Two\nlines",,1\n`);
    expect(rows).toMatchObject([
      { line: 2, raw: '"Emma\nwho is "handsome"\n', reason: 'a quote is out of place' },
      { line: 4, reason: 'a quote is out of place' },
      { line: 5, book: { title: 'Two\nlines' } },
    ]);
  });

  test('have quotes behind backslashes where RFC 4180 makes no sense of them', async () => {
    const rows = await read(
      `${header}"The \\"Real\\" One","A\\",1\n"C:\\","x",2\n"\\"All\\"","",3\n"a\\";\\"b","c\\\\d",4\n`,
    );
    expect(rows).toMatchObject([
      { line: 2, reason: expect.stringContaining('quote') },
      { book: { title: 'C:\\', author: 'x', year: 2 } },
      { book: { title: '"All"', author: '', year: 3 } },
      { book: { title: 'a";"b', author: 'c\\\\d', year: 4 } },
    ]);
  });

  test('are found behind a quote that is never closed in a large file', async () => {
    const count = 50_000;
    const rows = await read(`${header}"never closed,,1\n${'line of a large file,,1\n'.repeat(count)}`);
    expect(rows[0]).toMatchObject({ line: 2, reason: 'a quote is never closed' });
    expect(rows.at(-1)).toMatchObject({ line: count + 2 });
  });

  test('hold whatever texts another program quotes as RFC 4180 says', async () => {
    const texts = fc.array(fc.record({ title: anyText, author: anyText }), { minLength: 1, maxLength: 5 });
    const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(',', ';', '\t'), async (books, separator) => {
        const lines = books.map(({ title, author }) => [quote(title), quote(author), '1'].join(separator));
        const rows = await read([['title', 'author', 'year'].join(separator), ...lines].join('\r\n'));
        expect(rows.map((row) => ('book' in row ? row.book : row.reason))).toEqual(
          books.map(({ title, author }) =>
            (title + author).includes('\ufffd')
              ? expect.stringContaining('U+FFFD')
              : { title, author, year: 1 },
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
        const rows = await read(text, titleOnly);
        expect(rows.map((row) => 'book' in row && row.book.title)).toEqual(expected.map(([title]) => title));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the columns of a file', () => {
  test.each<[string, Partial<TableOptions>, object]>([
    ['\ufeff YEAR ,id,Title,AUTHOR\n1815,9,Emma,J\n', {}, { title: 'Emma', author: 'J', year: 1815 }],
    ['Book Title;Author(s);Year\nA;J;1\n', { without: ['author'] }, { title: 'A', author: '', year: 1 }],
    ['title\tauthor\tyear\nA, or so\tJ\t1\n', {}, { title: 'A, or so', author: 'J', year: 1 }],
    ['sep=|\r\ntitle|author|year\r\nA|B|1\r\n', {}, { title: 'A', author: 'B', year: 1 }],
    ['"sep=;"\ntitle;author;year\nA;B;1\n', {}, { title: 'A', author: 'B', year: 1 }],
    ['title#author#year\nA#B#1\n', { separator: '#' }, { title: 'A', author: 'B', year: 1 }],
    [
      'T;A,title\nx;y\n',
      { separator: ';', columns: { title: 't', author: 'a,TITLE' }, without: ['year'] },
      { title: 'x', author: 'y', year: 0 },
    ],
    ['title,name,author,year\nA,N,B,1\n', { columns: { title: 'Name' } }, { title: 'N', author: 'B' }],
    [
      'author,title,year\nA,B,1\n',
      { columns: { title: 'author', author: 'title' } },
      { title: 'A', author: 'B' },
    ],
    // goodbooks-10k and Book-Crossing
    [
      'book_id,authors,original_publication_year,original_title,title\n2,"Homer, Robert Fagles",-750.0,"",The Odyssey',
      {},
      { title: 'The Odyssey', author: 'Homer, Robert Fagles', year: -750 },
    ],
    [
      '"ISBN";"Book-Title";"Book-Author";"Year-Of-Publication";"Image-URL-S"\r\n"1";"With the Real \\"J\\"";"P";"2000";"x"\r\n',
      {},
      { title: 'With the Real "J"', author: 'P', year: 2000 },
    ],
  ])('are found in %j', async (content, options, book) => {
    expect(await read(content, options)).toMatchObject([{ book }]);
  });

  test('are described before anything is sent', async () => {
    expect(describeTable(await open('Book Title;isbn;Publisher\nA;1;2\n', titleOnly))).toBe(
      'Columns (utf-8, separated by ";"):\n  title: "Book Title"\n  author: no column, stored as if it were empty\n' +
        '  year: no column, stored as if it were empty\n  ignored: "isbn", "Publisher"',
    );
  });

  test.each([
    ['isbn,publisher\nEmma,1\n', {}, 'no column for title, author, year among "isbn", "publisher"'],
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
  const mark = Buffer.from([0xff, 0xfe]);

  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', utf16],
    ['UTF-16 with a byte order mark', Buffer.concat([mark, utf16])],
    ['UTF-16, high bytes first', Buffer.from(utf16).swap16()],
    ['UTF-16, high bytes first, with a byte order mark', Buffer.concat([mark, utf16]).swap16()],
  ])('%s is recognised', async (_name, bytes) => {
    expect(await read(bytes)).toMatchObject([{ book: { title: 'Café “€” Čapek', author: 'Gödel' } }]);
  });

  test('Windows-1252 is recognised, of which Latin-1 is a part', async () => {
    const bytes = Buffer.from(`${header}Caf\xe9 \x93\x80\x94,G\xf6del,1\n`, 'latin1');
    expect(await read(bytes)).toMatchObject([{ book: { title: 'Café “€”', author: 'Gödel' } }]);
  });

  test('of its own mark goes before the option, which goes before what the bytes suggest', async () => {
    const options = { encoding: 'windows-1252' };
    expect(await read(Buffer.from(text), options)).toMatchObject([{ book: { author: 'GÃ¶del' } }]);
    expect(await read(`\ufeff${text}`, options)).toMatchObject([{ book: { author: 'Gödel' } }]);
  });

  test('costs only the rows that are not in it, and those with U+FFFD, which are lost texts', async () => {
    const bytes = [text, Buffer.from('Caf\xe9,,1\n', 'latin1'), 'É,è,2\n', '\ufffd,,1\n'];
    expect(await read(Buffer.concat(bytes.map((part) => Buffer.from(part))))).toMatchObject([
      { book: { author: 'Gödel' } },
      { line: 3, reason: 'has bytes that are not utf-8, or U+FFFD' },
      { book: { title: 'É', author: 'è', year: 2 } },
      { line: 5, reason: 'has bytes that are not utf-8, or U+FFFD' },
    ]);
  });

  test('does not change where chunks of the file begin', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `é${'x'.repeat(index % 7)},ö,${index}\n`);
    for (const encoding of ['utf8', 'utf16le'] as const) {
      const books = await read(Buffer.from(header + rows.join(''), encoding));
      expect(books).toHaveLength(rows.length);
      expect(
        books.every((row, index) => 'book' in row && row.book.author === 'ö' && row.book.year === index),
      ).toBe(true);
    }
  });
});

describe('the rows of an NDJSON file', () => {
  test('are books; missing members are zero values, and other names may stand for the fields', async () => {
    const content = '{"title":"Emma","year":1815,"id":4}\r\n\n{}\n{"author":"\u2028"}';
    expect(await read(content, { format: 'ndjson' })).toMatchObject([
      { line: 1, book: { title: 'Emma', author: '', year: 1815 } },
      { line: 3, book: { title: '', author: '', year: 0 } },
      { line: 4, book: { title: '', author: '\u2028', year: 0 } },
    ]);
    const named = '{"name":"Emma","authors":"Jane Austen","published":1815}\n';
    expect(await read(named, { columns: { year: 'published' } })).toMatchObject([
      { book: { title: 'Emma', author: 'Jane Austen', year: 1815 } },
    ]);
  });

  test.each([
    ['{"title":"Emma"', 'is not a JSON object'],
    ['["Emma"]', 'is not a JSON object'],
    ['{"title":null}', 'title is not text: null'],
    ['{"author":7}', 'author is not text: 7'],
    ['{"title":"\\ud800"}', 'title is not text: "\\ud800"'],
    ['{"year":"1815"}', 'year is not a whole number up to 2^53-1: "1815"'],
    ['{"year":1815.5}', 'year is not a whole number up to 2^53-1: 1815.5'],
    ['{"year":9007199254740992}', expect.stringContaining('year is not a whole number up to 2^53-1')],
    [`{"title":"${'x'.repeat(410 * 1024)}"}`, 'is larger than the 400 KB that a book can have'],
  ])('are rejected one by one (%#)', async (line, reason) => {
    const all = '{"title":"","author":"","year":1}\n';
    expect(await read(`${all}${line}\n${all}`, { format: 'ndjson' })).toMatchObject([
      { line: 1, book: { year: 1 } },
      { line: 2, reason },
      { line: 3, book: { year: 1 } },
    ]);
  });

  test('are no longer than 4 MB', async () => {
    const line = `{"title":"${'x'.repeat(5 * 1024 * 1024)}"}\n`;
    await expect(read(`{}\n${line}`, { format: 'ndjson' })).rejects.toThrow('line 2 is over 4 MB');
  });
});
