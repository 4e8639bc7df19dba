/**
 * How letters are compared: the table "Letters" of rule 7.9, row by row. What is stored and what is typed become the same
 * letters.
 */

/** Accents and points are left out: `BRONTE` is `Brontë`, and `שלום` is `שָׁלוֹם`. NFKD makes them characters of their own. */
const accents = [
  // The marks of other scripts tell words apart: vowels, the tones of ไม้ and ไม่, the voicing of が and か.
  '[\\p{Mark}&&[\\p{Script=Inherited}\\p{Script=Cyrillic}\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Syriac}]]',
  '\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc', // nuktas, the dots of borrowed letters in India: `जिंदगी` is `ज़िंदगी`
].join('');

/** Apostrophes and quotation marks are left out, and primes in their place: `assassins` is `Assassin’s`. */
const apostrophes = [
  '\\p{Quotation_Mark}`\u2032\u2035',
  '\u02b9-\u02bf', // in romanized Arabic and Russian. NFKD makes some of other characters: `ŉ` is `n`
  '\u05f3\u05f4', // in Hebrew
].join('');

/** Letters that Unicode does not take apart: `nesbo` is `Nesbø`. */
const letters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ґ: 'г',
  // Forms at the end of a word, in Greek and Hebrew.
  ς: 'σ',
  ך: 'כ',
  ם: 'מ',
  ן: 'נ',
  ף: 'פ',
  ץ: 'צ',
  // Two letters in one character, in Yiddish, and a consonant with its virama, in Malayalam and Bengali.
  װ: 'וו',
  ױ: 'וי',
  ײ: 'יי',
  ൺ: 'ണ്',
  ൻ: 'ന്',
  ർ: 'ര്',
  ൽ: 'ല്',
  ൾ: 'ള്',
  ൿ: 'ക്',
  ৎ: 'ত্',
  '\u119e': '·', // Koreans type an old vowel as the dot between words: `정치ㆍ경제`
  // Letters of Arabic that look alike, and those of Persian and Urdu: `علي` is `علی`.
  '\u0649': '\u064a', // yeh without dots
  '\u06cc': '\u064a', // yeh of Persian
  '\u06a9': '\u0643', // kaf of Persian
  '\u0629': '\u0647', // teh marbuta is heh
  '\u06c3': '\u0647', // teh marbuta of Urdu
  '\u06c1': '\u0647', // heh of Urdu
  '\u06be': '\u0647', // heh of Urdu after a consonant
  '\u06d5': '\u0647', // heh of Persian with a yeh above, without it
  '\u0671': '\u0627', // alef of the Quran
};

/** What is invisible is left out, such as a soft hyphen, and so is tatweel, the line that makes a word of Arabic longer. */
const invisible = '\\p{Default_Ignorable_Code_Point}\u0640';

/** So are more marks in a row than a language has (UAX #15, Stream-Safe Text Format). Halfwidth kana have such marks, too. */
const pile = /[\p{M}\uff9e\uff9f]{31,}/gu;

/** None of these has to be replaced. Looking for them first takes half of the time of a Japanese text. */
// Stryker disable next-line StringLiteral: it saves time
const kanaAndHan = '\u3041-\u9fff';

/** NFKD puts a blank before an accent that stands alone, as in `Prisoner´s`. */
const leftOut = new RegExp(
  ` (?=[[${accents}]--[${invisible}]])|(?![${kanaAndHan}])[${accents}${apostrophes}${invisible}]`,
  'gv',
);

const spelled = new RegExp(`(?![0-9${kanaAndHan}])[${Object.keys(letters).join('')}\\p{Decimal_Number}]`, 'gu');

/** Reduces a text to letters as people type them: `Brontë`, `BRONTE` and a `Brontë` in full width become `bronte`. */
export function fold(text: string): string {
  // Stryker disable next-line ConditionalExpression: it saves half of the time
  if (!/[\u0080-\uffff]/.test(text)) return text.replace(/["'`]/g, '').toLowerCase();
  const bare = normalize(text, 'NFKD').toLowerCase().replace(leftOut, '');
  // NFC puts kana and the syllables of Korean together again, so that a part of one is not found.
  return normalize(
    bare.replace(spelled, (letter) => letters[letter] ?? toAscii(letter)),
    'NFC',
  );
}

/** Digits of other scripts are those of ASCII: `1984` is `۱۹۸۴`. Unicode has the ten of a script in a row, from its zero. */
function toAscii(digit: string): string {
  const codePoint = Number(digit.codePointAt(0));
  let before = 0;
  while (/\p{Decimal_Number}/u.test(String.fromCodePoint(codePoint - before - 1))) before += 1;
  return `${before % 10}`;
}

/** A pile of marks in a text of this length takes 0.15 ms. */
const fewCharacters = 300;

/** `normalize` takes the square of the number of marks in a row: 47 s for a title of 390 KB. */
function normalize(text: string, form: 'NFKD' | 'NFC'): string {
  // Stryker disable next-line ConditionalExpression,EqualityOperator: it saves a third of the time
  return (text.length > fewCharacters ? text.replace(pile, '') : text).normalize(form);
}
