import { expect, test } from 'vitest';
import { fold } from '../../../../../lib/books/search/letters.ts';

test.each([
  ['٠١٢٣٤٥٦٧٨٩', 'Arabic'],
  ['۰۱۲۳۴۵۶۷۸۹', 'Persian'],
  ['०१२३४५६७८९', 'Devanagari'],
  ['০১২৩৪৫৬৭৮৯', 'Bengali'],
  ['੦੧੨੩੪੫੬੭੮੯', 'Gurmukhi'],
  ['૦૧૨૩૪૫૬૭૮૯', 'Gujarati'],
  ['୦୧୨୩୪୫୬୭୮୯', 'Odia'],
  ['௦௧௨௩௪௫௬௭௮௯', 'Tamil'],
  ['౦౧౨౩౪౫౬౭౮౯', 'Telugu'],
  ['೦೧೨೩೪೫೬೭೮೯', 'Kannada'],
  ['൦൧൨൩൪൫൬൭൮൯', 'Malayalam'],
  ['๐๑๒๓๔๕๖๗๘๙', 'Thai'],
  ['໐໑໒໓໔໕໖໗໘໙', 'Lao'],
  ['༠༡༢༣༤༥༦༧༨༩', 'Tibetan'],
  ['၀၁၂၃၄၅၆၇၈၉', 'Burmese'],
  ['០១២៣៤៥៦៧៨៩', 'Khmer'],
  ['０１２３４５６７８９', 'full width'],
])('%s, the digits of %s, are those of ASCII', (digits) => {
  expect(fold(digits)).toBe('0123456789');
});

test.each(['´', '\u1ffd', '\u1fef', '\u02b9', '\u02bf', '\u05f3', '\u05f4', '\u2032', '\u2037', '\u2057', '\uff40'])(
  '%s is left out, as apostrophes are',
  (mark) => {
    expect(fold(`Prisoner${mark}s`)).toBe('prisoners');
  },
);

test('what is invisible counts for nothing', () => {
  const invisible = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint)
    .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
    .map((codePoint) => String.fromCodePoint(codePoint))
    .filter((character) => /\p{Default_Ignorable_Code_Point}/u.test(character));
  for (const character of invisible) expect([character, fold(`a${character}b`)]).toEqual([character, 'ab']);
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
