import { expect, test } from 'vitest';
import { fold } from '../../../../../lib/books/search/letters.ts';

const characters = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint)
  .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  .map((codePoint) => String.fromCodePoint(codePoint));

test('digits of all scripts are those of ASCII', () => {
  const digits = characters.filter((character) => /\p{Decimal_Number}/u.test(character)).map(fold);
  expect(digits.join('')).toBe('0123456789'.repeat(digits.length / 10));
});

test('what is invisible counts for nothing', () => {
  const invisible = characters.filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character));
  expect(invisible.filter((character) => fold(`a${character}b`) !== 'ab')).toEqual([]);
});

test.each(['\u1fef', '\u1ffd', '\u02b9', '\u02bf', '\u2037', '\u2057', '\uff40'])('%s is an apostrophe', (mark) => {
  expect(fold(`Prisoner${mark}s`)).toBe('prisoners');
});

test.each(['\u1dca', '\uff9e', '\u1dca\u1dfe', '\u0316\u0315'])(
  'a pile of %j is left out, and what is left of it below another one',
  (marks) => {
    expect(fold(`a${marks.repeat(400)}b`)).toBe('ab');
    expect(fold(`a${marks.repeat(15)}${' '.repeat(300)}b`)).toContain(fold(`a${marks.repeat(15)}`));
    const joined = `${marks.repeat(15)}\u200d`.repeat(10_000);
    expect(fold(`a${joined}b`)).toBe('ab');
  },
);
