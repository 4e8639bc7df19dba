import { expect, test } from 'vitest';
import { createSearch } from '../../../../../lib/books/search/words.ts';

const finds = (typed: string, text: string) => createSearch(typed)?.(text);

const characters = Array.from({ length: 0x1_0000 }, (_, codeUnit) => String.fromCharCode(codeUnit));

test('a word with any mark finds itself between letters, initials, digits and Han', () => {
  for (const mark of characters.filter((character) => /[^\p{L}\p{N}\p{M}\p{Cs}\p{Cn}\p{Co}]/u.test(character))) {
    for (const text of [`ab${mark}cd`, `J${mark}K`, `J.${mark}K. Lee`, `1${mark}2`, `漱${mark}石`]) {
      expect([text, finds(text, text)]).toEqual([text, true]);
    }
  }
});

test.each([
  ['jk', 'J. K. Rowling'],
  ['jk', 'Rowling—J. K.'],
  ['jk', 'ローリング《J. K.》'],
  ['jk', 'J.K.・ローリング'],
  ['jrr', 'Tolkien (J.-R. R.)'],
  ['ab', 'א. ב. ab'],
  ['אב', 'א. ב. יהושע'],
  ['นายสมชาย', 'นาย สมชาย'],
  ['ສະບາຍດີ', 'ສະບາຍ ດີ'],
  ['မြန်မာ', 'မြန် မာ'],
  ['ភាសាខ្មែរ', 'ភាសា ខ្មែរ'],
  ['ハリーポッター', 'ハリー、ポッター'],
  ['佐々木', '佐々 木'],
  ['夏目漱石', '夏目  漱石'],
  ['ꀀꀁ', 'ꀀ ꀁ'],
  ['해리포터', '해리=포터'],
  ['𠮷田', '𠮷 田'],
  ['1000000', '1,000,000'],
  ['112263', '11/22/63'],
])('%s finds %s, without what people leave out', (typed, text) => {
  expect(finds(typed, text)).toBe(true);
});

test.each([
  ['planb', 'Plan B'],
  ['broad', 'Plan B. Road'],
  ['maj', 'Emma J. K'],
  ['ceffective', 'C. Effective'],
  ['51', 'Area 5 1'],
  ['51', '5, 1'],
  ['c1', 'C. 1'],
  ['ab1', 'A. B1'],
  ['1ab', '1A. B'],
  ['cd', 'C\nD'],
  ['foob', 'Foo, B'],
  ['漱b', '漱 b'],
  ['b漱', 'b 漱'],
  ['漱石', '漱 & 石'],
])('%s does not find %s', (typed, text) => {
  expect(finds(typed, text)).toBe(false);
});

test.each<[string, string, boolean]>([
  ['J.K.', 'J.K. Rowling', true],
  ['J. K.', 'Rowling, JK', true],
  ['j k', 'J K Rowling', true],
  ['J.K.', 'Joanne Kathleen Rowling', true],
  ['J.K', 'Joanne Kathleen Rowling', true],
  ['J.K', 'Kathleen Joanne', false],
  ['J.K.L.', 'Kim J. L.', false],
  ['J. K. Rowling', 'Kathleen J. Rowling', false],
  ['j k rowling', 'Kathleen J. Rowling', false],
  ['rowling  j k ', 'Kathleen J. Rowling', false],
  ['dune j k rowling', 'Kathleen J. Rowling, Dune', true],
  ['Martin, R. R. A Game', 'A Game, Raymond Richard Martin', true],
  ['Martin, R. R. A Game', 'A Game, Richard Martin', false],
  ['k j.m.', 'John Maxwell, K', true],
  ['J.-L. Picard', 'Jean-Luc Picard', true],
  ['J.-L. Picard', 'Luc-Jean Picard', false],
  ['J.-L Picard', 'Luc-Jean Picard', false],
  ['j l picard', 'Picard, J.L.', true],
  ['J.K.', 'Joanne\nKathleen', false],
  ['J.K.', 'Kathleen Joanne', false],
  ['J.K.', 'Joanne M. Kathleen', false],
  ['J.K.', 'JKL', false],
  ['J.K.', 'AJK', false],
  ['J.K.', 'jk1', false],
  ['J.K. / J.K. / A.S.', 'J. K. and A. S.', true],
  ['J.K. / A.S.', 'J. K. and A. T.', false],
  ['J.K. / A.S.', 'J. K., S. A.', false],
  ['J.K. lee', 'J. K. Moore', false],
  ['r & b', 'B, R', true],
  ['b and r', 'R&B', true],
  ['夏 目', '夏目漱石', true],
  ['c d3', 'D3 and C', true],
  ['1 a', 'A 1', true],
  ['c', 'Programming C', true],
])('the initials of %s are one word, in their order: in %j, %s', (typed, text, expected) => {
  expect(finds(typed, text)).toBe(expected);
});

test.each(['', ' ', '\u200c', 'and', 'by & AND', '— (+) *'])('%j has no word', (typed) => {
  expect(createSearch(typed)).toBeUndefined();
});

test.each([
  ['sandy', 'sand', false],
  ['sandy', 'Sandy', true],
  ['abby', 'abb', false],
  ['c++', 'C', false],
  ['€', 'Euro', false],
  ['♥', 'I ♥ Berlin', true],
])('%s is a word: in %s, %s', (typed, text, expected) => {
  expect(finds(typed, text)).toBe(expected);
});
