import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BookFilter, createMatcher } from '../../../../lib/books/book-filter.ts';
import { aBook } from '../../../support/a-book.ts';
import { anyText } from '../../../support/any-text.ts';

const emma = { id: 1, ...aBook({ title: 'Emma', author: 'Jane Austen', year: 1815 }) };

/** Compares Emma, with other fields, with a filter. */
const matchEmma = (filter: BookFilter, fields: object = {}) => {
  const book: Readonly<Record<string, unknown>> = { ...emma, ...fields };
  return createMatcher(filter)?.((name) => book[name]) ?? true;
};

const titleMatches = (title: string, sought: string) => matchEmma({ title: sought }, { title });

test.each<[sought: string, title: string]>([
  ['bronte', 'Charlotte Brontë'],
  ['BRONTË', 'Charlotte Bronte'],
  ['Caf\u00e9', 'Cafe\u0301'],
  ['ΟΔΥΣ', 'Οδύσσεια'],
  ['οδύσσεια', 'ΟΔΥΣΣΕΙΑ'],
  ['odysseus', 'Ｏｄｙｓｓｅｕｓ'],
  ['istanbul', 'İstanbul'],
  ['fig', 'A ﬁg'],
  ['e', 'É'],
  ['\u0301', 'Emma'],
])('%j finds %j', (sought, title) => {
  expect(titleMatches(title, sought)).toBe(true);
});

test.each([
  ['Emma ', 'Emma'],
  ['amme', 'Emma'],
  ['.', 'Emma'],
  ['紅夢', '紅樓夢'],
  ['λόγος', 'λόγο'],
  // Lower case keeps the ß, upper case does not.
  ['strasse', 'Straße'],
])('%j does not find %j', (sought, title) => {
  expect(titleMatches(title, sought)).toBe(false);
});

test('any part of any text finds it, in any Unicode form and in lower case', () => {
  const forms = fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD');
  fc.assert(
    fc.property(anyText, anyText, anyText, forms, (before, part, after, form) => {
      const title = before + part + after;
      expect(titleMatches(title, part.normalize(form))).toBe(true);
      expect(titleMatches(title, part.toLowerCase())).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test.each<[BookFilter, boolean]>([
  [{ title: 'em', author: 'austen', year: 1815 }, true],
  [{ title: 'em', author: 'bronte' }, false],
  [{ title: 'x', author: 'austen' }, false],
  [{ year: 1815 }, true],
  [{ year: 181 }, false],
  [{ year: 0 }, false],
  [{ title: '', year: 1816 }, false],
])('all filters have to match: %j does so for a book of 1815: %s', (filter, expected) => {
  expect(matchEmma(filter)).toBe(expected);
});

test.each([undefined, {}, { title: '' }, { title: '\u0301', author: '' }])('%j looks for all books', (filter) => {
  expect(createMatcher(filter)).toBeUndefined();
});
