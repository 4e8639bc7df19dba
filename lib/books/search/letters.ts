/**
 * How letters are compared: the table "Letters" of rule 7.9, row by row. What is stored and what is typed become the same
 * letters.
 */

/** Capitals and accents make no difference: `BRONTE` is `Brontë`. Accents are characters of their own in NFKD. */
const accents = [
  '\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff',
  '\ufe20-\ufe2f', // halves of a tie, with which libraries romanize Russian: `T︠S︡vetaeva`
].join('');

/** Apostrophes and quotation marks are left out, and primes in their place: `assassins` is `Assassin’s`. */
const apostrophes = [
  '\\p{Quotation_Mark}`\u2032\u2035',
  '\u02b9-\u02bf', // in romanized Arabic and Russian. NFKD makes some of other characters: `ŉ` is `n`
  '\u05f3\u05f4', // in Hebrew
].join('');

/** Letters that Unicode does not take apart: `nesbo` is `Nesbø`. A sigma has another form at the end of a word. */
const letters = {
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
  ς: 'σ',
  ґ: 'г',
  // Yiddish has one character for two letters, and Malayalam and Bengali for a consonant without a vowel.
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
  // Koreans type an old vowel for the dot between words: `정치ㆍ경제`.
  '\u119e': '·',
};

/** Letters of Arabic that look alike, and those of Persian and Urdu: `علي` is `علی`. */
const arabic = {
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

/** Digits of other scripts are those of ASCII: `1984` is `۱۹۸۴`. */
const digits = '\\p{Decimal_Number}';

/** Points are left out: `שלום` is `שָׁלוֹם`. Marks of other scripts are vowels, and those of kana tell が from か. */
const points = [
  '\u0591-\u05bd\u05bf-\u05c7', // Hebrew
  '\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed', // Arabic
  '\u0640', // tatweel, the line that makes a word of Arabic longer
  '\u093c', // the dot of borrowed letters in Hindi
].join('');

/** What is invisible is left out, such as a soft hyphen. */
const invisible = '\\p{Default_Ignorable_Code_Point}';

/** So are more marks in a row than a language has (UAX #15, Stream-Safe Text Format). Halfwidth kana have such marks, too. */
const pile = /[\p{M}\uff9e\uff9f]{31,}/gu;

/** None of these has to be replaced. Looking for them first takes half of the time of a Japanese text. */
// Stryker disable next-line StringLiteral: it saves time
const kanaAndHan = '\u3041-\u9fff';

/** NFKD puts a blank before an accent that stands alone, as in `Prisoner´s`. */
const leftOut = new RegExp(
  ` (?=[${accents}])|(?![${kanaAndHan}])[${accents}${apostrophes}${points}${invisible}]`,
  'gu',
);

const spellings: Readonly<Record<string, string>> = { ...letters, ...arabic };

const spelled = new RegExp(`(?![0-9${kanaAndHan}])[${Object.keys(spellings).join('')}${digits}]`, 'gu');

/** All that has to be replaced is one of these. */
const unusual = /["'`\u0080-\uffff]/;

const beyondAscii = /[\u0080-\uffff]/;

/** Reduces a text to letters as people type them: `Brontë`, `BRONTE` and a `Brontë` in full width become `bronte`. */
export function fold(text: string): string {
  // Stryker disable next-line ConditionalExpression: it saves half of the time
  if (!unusual.test(text)) return text.toLowerCase();
  // Stryker disable next-line ConditionalExpression: it saves half of the time of a text with an apostrophe
  if (!beyondAscii.test(text)) return text.replace(leftOut, '').toLowerCase();
  const bare = normalize(text, 'NFKD').toLowerCase().replace(leftOut, '');
  // NFC puts kana and the syllables of Korean together again, so that a part of one is not found.
  return normalize(
    bare.replace(spelled, (letter) => spellings[letter] ?? toAscii(letter)),
    'NFC',
  );
}

/** Unicode has the ten digits of a script in a row, from its zero. */
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
