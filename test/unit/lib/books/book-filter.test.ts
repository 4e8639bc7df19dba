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

/** NFKD makes an apostrophe of each, and the others are spelled, left out or divide words. */
const unusual =
  '\u1fef \u1ffd \u0374 \u0149 \u1e9a \u2057 \uff40 & ～ ・ 。 ، \u0649 \u0629 \u0640 \u{e0100} - J. J.-R.';

const anyWord = fc.oneof(
  anyText,
  fc.array(fc.oneof(anyText, fc.constantFrom(...unusual.split(' ')))).map((all) => all.join('')),
);

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
    { numRuns: 1_000 },
  );
});

test.each<[BookFilter, boolean]>([
  [{ title: 'em', author: 'austen', year: 1815 }, true],
  [{ title: 'em', author: 'bronte' }, false],
  [{ q: 'emma jane', year: 1815 }, true],
  [{ q: 'emma jane', year: 1816 }, false],
  [{ q: 'emma jane', author: 'emma' }, false],
  [{ q: 'emmajane' }, false],
  [{ q: '1815' }, false],
  [{ title: 'x', author: 'austen' }, false],
  [{ year: 1815 }, true],
  [{ year: 181 }, false],
  [{ year: 0 }, false],
  [{ title: '', year: 1816 }, false],
])('all filters have to match: %j does so for a book of 1815: %s', (filter, expected) => {
  expect(matchEmma(filter)).toBe(expected);
});

test.each([
  ['Plan B', 'planb'],
  ['Plan B. Road', 'broad'],
  ['Emma J. K', 'maj'],
  ['C. Effective', 'ceffective'],
  ['Area 5 1', '51'],
  ['C\nD', 'cd'],
  ['Foo, B', 'foob'],
])('%s is not found by %s', (title, sought) => {
  expect(titleMatches(title, sought)).toBe(false);
});

test('what is invisible counts for nothing', () => {
  const invisible = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint)
    .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
    .map((codePoint) => String.fromCodePoint(codePoint))
    .filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character));
  for (const character of invisible) {
    expect([character, titleMatches(`a${character}b`, 'ab'), titleMatches('ab', `a${character}b`)]).toEqual([
      character,
      true,
      true,
    ]);
  }
});

test.each(['\u1dca', '\uff9e', '\u1dca\u1dfe', '\u0316\u0315'])(
  'a pile of %j is left out, and what is left of it below another one',
  (marks) => {
    expect(titleMatches(`a${marks.repeat(400)}b`, 'ab')).toBe(true);
    expect(titleMatches(`a${marks.repeat(15)}${' '.repeat(300)}b`, `a${marks.repeat(15)}`)).toBe(true);
    const joined = `${marks.repeat(15)}\u200d`.repeat(10_000);
    expect(titleMatches(`a${joined}b`, 'ab')).toBe(true);
  },
);

test.each([undefined, {}, { q: '' }, { title: '\u0301', author: '. - ("\u2026") ' }])(
  '%j looks for all books',
  (filter) => {
    expect(createMatcher(filter)).toBeUndefined();
  },
);
