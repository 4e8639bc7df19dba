import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  describeTable,
  openTable,
  type Row,
  readRows,
  type TableOptions,
} from '../../../../tools/books/table.ts';
import { anyText } from '../../../support/any-text.ts';

const header = 'title,author,year\n';
const titleOnly: Partial<TableOptions> = { without: ['author', 'year'] };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'book-rows-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the rows of a CSV file', () => {
  test('are books, under the lines that they begin on', async () => {
    const rows = await read(`${header}Emma,Jane Austen,1815\n\n"Two\nlines","A ""B""",-5\r\n"a\r\nb",,7`);
    expect(rows).toMatchObject([
      { line: 2, book: { title: 'Emma', author: 'Jane Austen', year: 1815 } },
      { line: 4, book: { title: 'Two\nlines', author: 'A "B"', year: -5 } },
      { line: 6, book: { title: 'a\r\nb', author: '', year: 7 } },
    ]);
  });

  test('have any whole number for a year, and 0 for none', async () => {
    const cells = ['', '1965.0', ' 1965 ', '1.965e3', '-750.0', '9007199254740991'];
    const rows = await read(`title,year\n${cells.map((cell) => `a,${cell}\n`).join('')}`, {
      without: ['author'],
    });
    expect(rows.map((row) => 'book' in row && row.book.year)).toEqual([
      0,
      1965,
      1965,
      1965,
      -750,
      2 ** 53 - 1,
    ]);
  });

  test.each([
    ['Emma,,about 1815', 'year is not a whole number up to 2^53-1: "about 1815"'],
    ['Emma,,1815.5', 'year is not a whole number up to 2^53-1: "1815.5"'],
    ['Emma,,9007199254740992', expect.stringContaining('year is not a whole number up to 2^53-1')],
    ['Emma, or so,,1815', 'has 4 cells where the header has 3'],
    ['Emma', 'has 1 cells where the header has 3'],
    ['Em"ma,,1815', 'a quote is out of place'],
    ['"Em"ma,,1815', 'a quote is out of place'],
    ['"Emma,,1815', 'a quote is never closed'],
    ['Emma,"Jane,1815', 'a quote is never closed'],
  ])('%j is rejected, and no other', async (record, reason) => {
    for (const next of ['Next,,1', '"Ne""xt","","1"', '"Next, too",a,1\nX,"y",2']) {
      const rows = await read(`${header}Before,,0\n${record}\n${next}\n`);
      expect(rows.slice(0, 2)).toMatchObject([
        { line: 2, book: { title: 'Before' } },
        { line: 3, reason },
      ]);
      expect(rows.slice(2)).toHaveLength(next.split('\n').length);
      expect(rows.slice(2).every((row) => 'book' in row)).toBe(true);
    }
  });

  test('may be as large as the service takes, and no larger', async () => {
    const title = 'é'.repeat(200 * 1024 - 128);
    expect(await read(`${header}${title},,1\n${title},a,1\n`)).toMatchObject([
      { book: { title } },
      { line: 3, reason: 'is larger than the 400 KB that a book can have' },
    ]);
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
    const count = 200_000;
    const rows = await read(`${header}"never closed,,1\n${'line of a large file,,1\n'.repeat(count)}`);
    expect(rows[0]).toMatchObject({ line: 2, reason: 'a quote is never closed' });
    expect(rows).toHaveLength(count + 1);
    expect(rows.at(-1)).toMatchObject({ line: count + 2 });
  });

  test('hold whatever texts another program quotes as RFC 4180 says', async () => {
    const texts = fc.array(fc.record({ title: anyText, author: anyText }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(',', ';', '\t'), async (books, separator) => {
        const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const lines = books.map(({ title, author }) => [quote(title), quote(author), '1'].join(separator));
        const file = ['title', 'author', 'year'].join(separator);
        const rows = await read([file, ...lines].join('\r\n'));
        expect(rows.map((row) => ('book' in row ? row.book : row.reason))).toEqual(
          books.map(({ title, author }) =>
            (title + author).includes('\ufffd')
              ? expect.stringContaining('U+FFFD')
              : { title, author, year: 1 },
          ),
        );
      }),
      { numRuns: 200 },
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
      { numRuns: 3_000 },
    );
  });
});

describe('the columns of a file', () => {
  test.each([
    ['\ufeff YEAR ,id,Title,AUTHOR\n1815,9,Emma,J\n', {}, { title: 'Emma', author: 'J', year: 1815 }],
    ['Book Title;Author(s);Year\nEmma;J;1\n', {}, { title: 'Emma', author: '', year: 1 }, ['author']],
    ['title\tauthor\tyear\nEmma, or so\tJ\t1\n', {}, { title: 'Emma, or so', author: 'J', year: 1 }],
    ['sep=|\r\ntitle|author|year\r\nA|B|1\r\n', {}, { title: 'A', author: 'B', year: 1 }],
    ['"sep=;"\ntitle;author;year\nA;B;1\n', {}, { title: 'A', author: 'B', year: 1 }],
    ['title#author#year\nA#B#1\n', { separator: '#' }, { title: 'A', author: 'B', year: 1 }],
    [
      'T;A,title\nx;y\n',
      { separator: ';', columns: { title: 't', author: 'a,TITLE' } },
      { title: 'x', author: 'y', year: 0 },
      ['year'],
    ],
    [
      'title,name,author,year\nA,N,B,1\n',
      { columns: { title: 'Name' } },
      { title: 'N', author: 'B', year: 1 },
    ],
    [
      'author,title,year\nA,B,1\n',
      { columns: { title: 'author', author: 'title' } },
      { title: 'A', author: 'B', year: 1 },
    ],
  ])('are found in %j', async (content, options, book, without: string[] = []) => {
    const rows = await read(content, { ...options, without: without as TableOptions['without'] });
    expect(rows).toMatchObject([{ book }]);
  });

  test('of goodbooks-10k are authors, original_publication_year and title', async () => {
    const content = [
      'book_id,goodreads_book_id,isbn,authors,original_publication_year,original_title,title,average_rating',
      '1,2767052,439023483,Suzanne Collins,2008.0,The Hunger Games,"The Hunger Games (The Hunger Games, #1)",4.34',
      '2,1,,"Homer, Robert Fagles",-750.0,"",The Odyssey,3.7',
      '3,5,,"J.K. Rowling, Mary GrandPré",,,"Harry &amp; Potter",4.44',
    ].join('\n');
    expect(await read(content)).toMatchObject([
      { book: { title: 'The Hunger Games (The Hunger Games, #1)', author: 'Suzanne Collins', year: 2008 } },
      { book: { title: 'The Odyssey', author: 'Homer, Robert Fagles', year: -750 } },
      { book: { title: 'Harry &amp; Potter', author: 'J.K. Rowling, Mary GrandPré', year: 0 } },
    ]);
  });

  test('of Book-Crossing are Book-Title, Book-Author and Year-Of-Publication, and their texts Latin-1', async () => {
    const content = [
      '"ISBN";"Book-Title";"Book-Author";"Year-Of-Publication";"Publisher";"Image-URL-S"',
      '"0002005018";"Clara Callan";"Richard Bruce Wright";"2001";"HarperFlamingo &amp; Sons";"http://i/1.jpg"',
      '"3442353866";"Der Fluch der Kaiserin. Ein Richter- Di- Roman.";"Eleanor Cooney & André";"0";"Goldmann";"http://i/2.jpg"',
      '"0006178731";"Peterman Rides Again: Adventures with the Real \\"J. Peterman\\"";"John Peterman";"2000";"P";"http://i/3.jpg"',
      '"078946697X";"DK Readers: Creating the X-Men (Level 4)\\";Michael Teitelbaum";"2000";"DK Publishing Inc";"http://i/4.jpg"',
      '"3150000335";"Kabale Und Liebe Ã?Â¼";"Schiller, ß";"1997";"Reclam";"http://i/5.jpg"',
      '',
    ].join('\r\n');
    const rows = await read(Buffer.from(content, 'latin1'));
    expect(rows).toMatchObject([
      { book: { title: 'Clara Callan', author: 'Richard Bruce Wright', year: 2001 } },
      {
        book: {
          title: 'Der Fluch der Kaiserin. Ein Richter- Di- Roman.',
          author: 'Eleanor Cooney & André',
          year: 0,
        },
      },
      {
        book: {
          title: 'Peterman Rides Again: Adventures with the Real "J. Peterman"',
          author: 'John Peterman',
        },
      },
      { line: 5, reason: expect.any(String) },
      { book: { title: 'Kabale Und Liebe Ã?Â¼', author: 'Schiller, ß', year: 1997 } },
    ]);
  });

  test('are described before anything is sent', async () => {
    const table = await open('Book Title;isbn;Publisher\nA;1;2\n', titleOnly);
    expect(describeTable(table)).toBe(
      'Columns (utf-8, separated by ";"):\n  title: "Book Title"\n  author: no column, stored as if it were empty\n' +
        '  year: no column, stored as if it were empty\n  ignored: "isbn", "Publisher"',
    );
  });

  test.each([
    ['isbn,publisher\nEmma,1\n', {}, 'no column for title, author, year among "isbn", "publisher"'],
    ['title,author\nEmma,1\n', {}, 'no column for year among "title", "author"; name it'],
    ['title,Title,author,year\na,b,c,1\n', {}, 'two columns are the title: "title", "Title"'],
    [
      'title,author,year\n',
      { columns: { title: 'Name' } },
      'no column for title among "title", "author", "year"',
    ],
    ['"title,author,year\n', {}, 'a quote is out of place in the header'],
    ['\n\n', {}, 'the file is empty'],
    ['{"name":"Emma","pages":3}\n', {}, 'no column for author, year among "name", "pages"'],
  ])('have to be clear: %j', async (content, options, reason) => {
    await expect(read(content, options)).rejects.toThrow(reason);
  });

  test('may be missing when the user says so', async () => {
    const rows = await read('title\nEmma\n', titleOnly);
    expect(rows).toMatchObject([{ book: { title: 'Emma', author: '', year: 0 } }]);
  });
});

describe('the encoding of a file', () => {
  const text = `${header}Café “€” Čapek,Gödel,1\n`;
  const latin = `${header}Caf\xe9,G\xf6del,1\n`;
  const utf16 = Buffer.from(text, 'utf16le');

  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', utf16],
    ['UTF-16 with a byte order mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])],
    ['UTF-16, high bytes first', Buffer.from(utf16).swap16()],
    [
      'UTF-16, high bytes first, with a byte order mark',
      Buffer.from(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])).swap16(),
    ],
  ])('%s is recognised', async (_name, bytes) => {
    expect(await read(bytes)).toMatchObject([{ book: { title: 'Café “€” Čapek', author: 'Gödel' } }]);
  });

  test('Windows-1252 is recognised, of which Latin-1 is a part', async () => {
    expect(await read(Buffer.from(latin, 'latin1'))).toMatchObject([
      { book: { title: 'Café', author: 'Gödel' } },
    ]);
    const quotes = Buffer.concat([Buffer.from(header), Buffer.from([0x93, 0x80, 0x94]), Buffer.from(',,1')]);
    expect(await read(quotes)).toMatchObject([{ book: { title: '“€”' } }]);
  });

  test('of its own file goes before the option, which goes before what the bytes suggest', async () => {
    const asLatin = await read(Buffer.from(text), { encoding: 'windows-1252' });
    expect(asLatin).toMatchObject([{ book: { author: 'GÃ¶del' } }]);
    const marked = await read(`\ufeff${text}`, { encoding: 'windows-1252' });
    expect(marked).toMatchObject([{ book: { author: 'Gödel' } }]);
  });

  test('costs only the rows that are not in it', async () => {
    const bytes = Buffer.concat([
      Buffer.from(text),
      Buffer.from('Caf\xe9,,1\n', 'latin1'),
      Buffer.from('É,è,2\n'),
    ]);
    expect(await read(bytes)).toMatchObject([
      { book: { author: 'Gödel' } },
      { line: 3, reason: 'has bytes that are not utf-8, or U+FFFD' },
      { book: { title: 'É', author: 'è', year: 2 } },
    ]);
  });

  test('stays UTF-8 where a file holds U+FFFD itself, which is rejected as text that was lost before', async () => {
    expect(await read(`${header}\ufffd,,1\na,,2\n`)).toMatchObject([
      { reason: expect.stringContaining('not utf-8') },
      { book: { title: 'a' } },
    ]);
  });

  test('does not change where chunks of the file begin', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `é${'x'.repeat(index % 7)},ö,${index}\n`).join(
      '',
    );
    for (const bytes of [Buffer.from(header + rows), Buffer.from(header + rows, 'utf16le')]) {
      const read20000 = await read(bytes);
      expect(read20000).toHaveLength(20_000);
      expect(
        read20000.every((row, index) => 'book' in row && row.book.author === 'ö' && row.book.year === index),
      ).toBe(true);
    }
  });
});

describe('the rows of an NDJSON file', () => {
  test('are books; missing members are zero values', async () => {
    const content = '{"title":"Emma","year":1815,"id":4}\r\n\n{}\n{"author":"\u2028"}';
    expect(await read(content, { format: 'ndjson' })).toMatchObject([
      { line: 1, book: { title: 'Emma', author: '', year: 1815 } },
      { line: 3, book: { title: '', author: '', year: 0 } },
      { line: 4, book: { title: '', author: '\u2028', year: 0 } },
    ]);
  });

  test('may have other names for the fields', async () => {
    const content = '{"name":"Emma","authors":"Jane Austen","published":1815}\n';
    const rows = await read(content, { columns: { year: 'published' } });
    expect(rows).toMatchObject([{ book: { title: 'Emma', author: 'Jane Austen', year: 1815 } }]);
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

async function open(content: string | Buffer, options: Partial<TableOptions> = {}) {
  const path = join(folder, 'rows');
  await writeFile(path, content);
  const nothing = { format: undefined, encoding: undefined, separator: undefined, columns: {}, without: [] };
  return openTable(path, { ...nothing, ...options });
}

async function read(content: string | Buffer, options: Partial<TableOptions> = {}): Promise<Row[]> {
  return Array.fromAsync(readRows(await open(content, options)));
}
