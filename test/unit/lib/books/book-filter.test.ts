import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BookFilter, createPredicate } from '../../../../lib/books/book-filter.ts';
import { aBook } from '../../../support/a-book.ts';
import { anyText } from '../../../support/any-text.ts';

const emma = { id: 1, ...aBook({ title: 'Emma', author: 'Jane Austen', year: 1815 }) };

/** Compares Emma, with other fields, with a filter. */
const matchEmma = (filter: BookFilter, fields: object = {}) => {
  const book: Readonly<Record<string, unknown>> = { ...emma, ...fields };
  return createPredicate(filter)?.((name) => book[name]) ?? true;
};

const titleMatches = (title: string, sought: string) => matchEmma({ title: sought }, { title });

/** NFKD makes an apostrophe of each, and the others are spelled, left out or divide words. */
const unusual = '\u1fef \u0374 \u0149 \u1e9a \u2057 \uff40 & ～ ・ 。 ، \u0649 \u0629 \u0640 \u{e0100} - J. J.-R.';

/** A mark at the start would belong to the blank before the word: `\u00b4` is such a blank with an accent. */
const anyWord = fc
  .oneof(
    anyText,
    fc.array(fc.oneof(anyText, fc.constantFrom(...unusual.split(' ')))).map((all) => all.join('')),
  )
  .filter((word) => !/^[\p{Mark}--\p{Default_Ignorable_Code_Point}]/v.test(word));

test('the words of any text find it in any order, in any Unicode form and in lower case', () => {
  const forms = fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD');
  const words = fc.array(anyWord, { minLength: 1, maxLength: 4 });
  const someWords = words.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all)));
  fc.assert(
    fc.property(someWords, forms, ([all, some], form) => {
      const title = all.join(' ');
      expect(titleMatches(title, some.join(' - ').normalize(form))).toBe(true);
      expect(titleMatches(title, some.join('/').toLowerCase())).toBe(true);
    }),
    // A blank before what is invisible divides words.
    { numRuns: 1_000, examples: [[[['\ue000', '\u{e0100}J.-R.'], ['\u{e0100}J.-R.']], 'NFC']] },
  );
});

test.each<[BookFilter, boolean]>([
  [{ title: 'em', author: 'austen', year: 1815 }, true],
  [{ title: 'em', author: 'bronte' }, false],
  [{ q: 'emma jane', year: 1815 }, true],
  [{ q: 'emma jane', year: 1816 }, false],
  [{ q: 'emma jane', author: 'emma' }, false],
  [{ q: 'emmajane' }, false],
  [{ q: 'j. a.' }, true],
  [{ q: 'e. j.' }, false],
  [{ q: '1815' }, false],
  [{ title: 'x', author: 'austen' }, false],
  [{ year: 1815 }, true],
  [{ year: 181 }, false],
  [{ year: 0 }, false],
  [{ title: '', year: 1816 }, false],
])('all filters have to match: %j does so for a book of 1815: %s', (filter, expected) => {
  expect(matchEmma(filter)).toBe(expected);
});

test.each([undefined, {}, { q: '' }, { q: 'and & by' }, { title: '\u0301', author: '. - ("\u2026") ' }])(
  '%j looks for all books',
  (filter) => {
    expect(createPredicate(filter)).toBeUndefined();
  },
);
