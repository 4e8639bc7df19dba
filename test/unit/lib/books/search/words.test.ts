import { expect, test } from 'vitest';
import { alike, different, found } from '../../../../../conformance/searches.ts';
import { createSearch } from '../../../../../lib/books/search/words.ts';

const finds = (typed: string, text: string) => createSearch(typed)?.(text) ?? true;

const characters = Array.from({ length: 0x1_0000 }, (_, codeUnit) => String.fromCharCode(codeUnit));

test('a word with any mark finds itself between letters, initials, digits and Han', () => {
  for (const mark of characters.filter((character) => /[^\p{L}\p{N}\p{M}\p{Cs}\p{Cn}\p{Co}]/u.test(character))) {
    for (const text of [`ab${mark}cd`, `J${mark}K`, `J.${mark}K. Lee`, `1${mark}2`, `漱${mark}石`]) {
      expect([text, finds(text, text)]).toEqual([text, true]);
    }
  }
});

test.each<readonly [string, string, boolean]>([
  ...Object.values(alike).flatMap((pairs) =>
    pairs.flatMap(([one, other]) => [[one, other, true] as const, [other, one, true] as const]),
  ),
  ...found.flatMap(([text, ...typed]) => typed.map((each) => [each, text, true] as const)),
  ...different.flatMap(([text, ...typed]) => typed.map((each) => [each, text, false] as const)),
  ['cd', 'C\nD', false],
  ['j.k.', 'Joanne\nKathleen', false],
  ['J.K. / J.K. / A.S.', 'J. K. and A. S.', true],
  ['J.K. / A.S.', 'J. K. and A. T.', false],
  ['J.K. / A.S.', 'J. K., S. A.', false],
  ['r & b', 'B, R', true],
  ['夏 目', '夏目漱石', true],
  ['k j.m.', 'John Maxwell, K', true],
  ['c d3', 'D3 and C', true],
  ['1 a', 'A 1', true],
])('%s finds %j: %s', (typed, text, expected) => {
  expect(finds(typed, text)).toBe(expected);
});
