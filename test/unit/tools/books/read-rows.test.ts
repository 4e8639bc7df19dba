import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRows } from '../../../../tools/books/read-rows.ts';
import type { Format, Row } from '../../../../tools/books/row.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'book-rows-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('CSV', () => {
  test('gives a book for each record, under the line that it begins on', async () => {
    const rows = await read(
      'csv',
      'title,author,year\nEmma,Jane Austen,1815\n\n"Two\nlines","A ""B""",-5\nC,D,7',
    );
    expect(rows).toEqual([
      { line: 2, book: { title: 'Emma', author: 'Jane Austen', year: 1815 } },
      { line: 4, book: { title: 'Two\nlines', author: 'A "B"', year: -5 } },
      { line: 6, book: { title: 'C', author: 'D', year: 7 } },
    ]);
  });

  test('takes CR LF line ends, inside quotes too, and counts each as one line', async () => {
    const rows = await read('csv', 'title,year\r\n"a\r\nb",1\r\n\r\nc,2\r\n');
    expect(rows).toEqual([
      { line: 2, book: { title: 'a\r\nb', author: '', year: 1 } },
      { line: 5, book: { title: 'c', author: '', year: 2 } },
    ]);
  });

  test('takes columns in any order and case, behind a byte order mark, and ignores others', async () => {
    const rows = await read('csv', '\ufeff YEAR ,id,Title\n1815,9,Emma\n');
    expect(rows).toEqual([{ line: 2, book: { title: 'Emma', author: '', year: 1815 } }]);
  });

  test('reads an empty cell as the zero value, and whole numbers however they are written', async () => {
    const rows = await read('csv', 'title,year\n,\na,1965.0\nb, 1965 \nc,1.965e3\n');
    expect(rows.map((row) => 'book' in row && row.book.year)).toEqual([0, 1965, 1965, 1965]);
  });

  test.each([
    ['title,year\nEmma,about 1815\n', 'year is not a whole number: "about 1815"'],
    ['title,year\nEmma,1815.5\n', 'year is not a whole number: "1815.5"'],
    ['title,year\nEmma,9007199254740992\n', 'year is beyond 2^53-1'],
    ['title,year\nEmma, or so,1815\n', 'has 3 cells where the header has 2'],
    ['title,year\nEmma\n', 'has 1 cells where the header has 2'],
    [Buffer.from('title,year\nCaf\xe9,1815\n', 'latin1'), 'is not UTF-8'],
  ])('rejects the record of %j and goes on', async (content, reason) => {
    const rows = await read('csv', Buffer.concat([Buffer.from(content), Buffer.from('Next,1\n')]));
    expect(rows).toEqual([
      { line: 2, reason, record: expect.any(String) },
      { line: 3, book: { title: 'Next', author: '', year: 1 } },
    ]);
  });

  test.each([
    ['name,isbn\nEmma,1\n', 'the first line has to name the columns, at least one of title, author, year'],
    ['title,Title\na,b\n', 'the first line names the column title twice'],
    ['title\nEmma\n"Em"ma\nx\n', 'a quote is out of place in the record after line 2'],
    ['title\nEmma\n"never closed\nx\n', 'a quote is never closed in the record after line 2'],
  ])('refuses %j as a whole', async (content, reason) => {
    await expect(read('csv', content)).rejects.toThrow(reason);
  });

  test('finds a quote that is never closed without reading a large file into memory', async () => {
    const content = `title\n"never closed\n${'line\n'.repeat(2_200_000)}`;
    await expect(read('csv', content)).rejects.toThrow('is longer than 10 MB');
  });
});

describe('NDJSON', () => {
  test('gives a book for each line, and reads missing members as zero values', async () => {
    const rows = await read('ndjson', '{"title":"Emma","year":1815,"id":4}\r\n\n{}\n{"author":"\u2028"}');
    expect(rows).toEqual([
      { line: 1, book: { title: 'Emma', author: '', year: 1815 } },
      { line: 3, book: { title: '', author: '', year: 0 } },
      { line: 4, book: { title: '', author: '\u2028', year: 0 } },
    ]);
  });

  test.each([
    ['{"title":"Emma"', 'is not a JSON object'],
    ['["Emma"]', 'is not a JSON object'],
    ['{"title":null}', 'title is not a string'],
    ['{"author":7}', 'author is not a string'],
    ['{"title":"\\ud800"}', 'title has half of a surrogate pair'],
    ['{"year":"1815"}', 'year is not a whole number: "1815"'],
    ['{"year":1815.5}', 'year is not a whole number: 1815.5'],
    ['{"year":9007199254740992}', 'year is beyond 2^53-1'],
    [Buffer.from('{"title":"Caf\xe9"}', 'latin1'), 'is not UTF-8'],
    [`{"title":"${'x'.repeat(10 * 1024 * 1024)}"}`, 'is longer than 10 MB'],
  ])('rejects a line and goes on (%#)', async (content, reason) => {
    const rows = await read('ndjson', Buffer.concat([Buffer.from(content), Buffer.from('\n{"year":1}\n')]));
    expect(rows).toEqual([
      { line: 1, reason, record: expect.any(String) },
      { line: 2, book: { title: '', author: '', year: 1 } },
    ]);
  });
});

async function read(format: Format, content: string | Buffer): Promise<Row[]> {
  const path = join(folder, `rows.${format}`);
  await writeFile(path, content);
  return Array.fromAsync(readRows(path, format));
}
