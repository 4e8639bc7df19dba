import assert from 'node:assert/strict';
import { aBook, fieldSchemas } from '../a-book.ts';
import type { Test } from '../case.ts';
import { makeEdgeValues, makeWrongTypes } from '../field-values.ts';
import { fragments } from '../fragments.ts';
import { inParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

/** JSON text of years, with the integer that each stands for. */
const integers: readonly (readonly [string, number])[] = [
  ['0', 0],
  ['-0', 0],
  ['1', 1],
  ['-753', -753],
  ['2147483648', 2 ** 31],
  ['4294967296', 2 ** 32],
  ['-2147483649', -(2 ** 31) - 1],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['-9007199254740991', Number.MIN_SAFE_INTEGER],
  ['2020.0', 2020],
  ['2.02E+3', 2020],
  ['202000e-2', 2020],
  ['0.0', 0],
  ['1e15', 1e15],
  ['9007199254740991.0', Number.MAX_SAFE_INTEGER],
  // JSON.parse rounds the fraction away.
  ['2020.00000000000000000001', 2020],
  ['9.007199254740991e15', Number.MAX_SAFE_INTEGER],
];

const refusedYears: readonly string[] = [
  '9007199254740992',
  '-9007199254740992',
  '9007199254740993',
  '9007199254740992.0',
  '18446744073709551616',
  '1e16',
  '1e400',
  '-1e400',
  '1.5',
  '-0.5',
  '2020.9999999',
  '20201e-1',
  '"2020"',
  'NaN',
  'Infinity',
  '-Infinity',
  '02020',
  '+2020',
  '0x7E4',
  '2020.',
  '.5',
  '2_020',
  '2020n',
];

const texts: readonly (readonly [string, string])[] = [
  ['the empty string', ''],
  ['space at both ends', ' \t Emma \r\n '],
  ['quotes and backslashes', 'a"b\\c/d\'e\\"f\\u0041'],
  ['control characters', '\u0001\b\t\n\v\f\r\u001b\u007f\u0085'],
  ['NUL', 'a\0b\0'],
  ['accents of their own', 'Cafe\u0301 A\u030a'],
  ['emoji', '📚 👩‍👩‍👧‍👦 🏳️‍🌈 🇪🇺'],
  ['right-to-left text', 'ألف ليلة וליל \u202eabc\u202c'],
  ['Chinese, Japanese and Korean', '紅樓夢 源氏物語 춘향전 𠮷'],
  ['a byte order mark', '\ufeffa\ufeff'],
  ['noncharacters', '\ufffe\uffff\ufdd0'],
  ['zero-width characters', 'a\u200bb\u200dc\u00ad'],
  ['the word __proto__', '__proto__'],
  ['digits', '1965'],
];

const createsAtOnce = 8;

/** Each text in a book of its own would take a hundred books. */
const textsOfBook = 8;

/** The values of a book's fields: each limit of openapi.yaml holds, and any string comes back unaltered. */
export default function addCases(test: Test): void {
  for (const [name, schema] of fieldSchemas) {
    const { within, beyond } = makeEdgeValues(schema);
    test('2.6, 3.1', `The values at the limits of ${name} are stored`, async (catalog) => {
      for (const value of within) {
        const book = aBook({ [name]: value });
        await catalog.expectAccepted(book, book);
      }
    });

    test(
      '2.3, 3.1, 6.1, 9.2',
      `A value beyond the limits of ${name}, or of another type, is refused`,
      async (catalog) => {
        for (const value of [...beyond, ...makeWrongTypes(schema)]) {
          await catalog.expectRefused(`{"${name}":${value}}`, outcomes.invalidInput);
        }
      },
    );
  }

  for (const [text, year] of integers) {
    test('2.6, 3.4', `The year ${text} is stored and sent back exactly`, { values: { year } }, async (catalog) => {
      const sent = `{"title":"Emma","author":"","year":${text}}`;
      const responses = await catalog.expectAccepted(sent, { title: 'Emma', author: '', year });
      // Parsing would hide digits beyond the precision of JavaScript's numbers.
      for (const { body } of responses) {
        const written = /"year"\s*:\s*([^,}\s]+)/.exec(body.toString())?.[1];
        assert.equal(written, String(year), `the digits of the year ${year}, got ${written}`);
      }
    });
  }

  for (const text of refusedYears) {
    test('2.6, 3.4', `The year ${text} is invalid input and changes nothing`, (catalog) =>
      catalog.expectRefused(`{"title":"Emma","year":${text}}`, outcomes.invalidInput),
    );
  }

  for (const [situation, text] of texts) {
    test('2.6, 3.3', `A title and an author of ${situation} come back unaltered`, (catalog) => {
      const fields = { title: text, author: text, year: 7 };
      return catalog.expectAccepted(fields, fields);
    });
  }

  test('2.6', 'Characters written as escapes are the same as the characters', (catalog) => {
    const body = '{"\\u0074itle":"\\ud83d\\ude00 \\u0000 \\u00e9 \\/","author":"\\u0041","year":0}';
    return catalog.expectAccepted(body, { title: '😀 \0 é /', author: 'A', year: 0 });
  });

  test('3.3, 7.1', 'The list holds unusual texts unaltered', async (catalog) => {
    const all = [...texts.map(([, text]) => text), ...fragments];
    const books = await inParallel(Math.ceil(all.length / textsOfBook), createsAtOnce, (index) => {
      const [title, ...others] = all.slice(textsOfBook * index, textsOfBook * (index + 1));
      return catalog.createBook({ title: title ?? '', author: others.join(' ') });
    });
    await catalog.expectInList(books.toSorted((a, b) => a.id - b.id));
  });
}
