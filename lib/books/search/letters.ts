/**
 * How letters are compared: the table "Letters" of rule 7.9, row by row. What is stored and what is typed become the same
 * letters.
 */

/** Capitals and accents make no difference: `BRONTE` is `Brontë`. Accents are characters of their own in NFKD. */
const accents = '\u0300-\u036f';

/**
 * Apostrophes and quotation marks are left out, and what is typed in their place: `assassins` is `Assassin’s`. NFKD would
 * put a blank before an accent that stands alone, so these are left out earlier.
 */
const quotationMarks = '\\p{Quotation_Mark}`´\u1ffd';

/** Apostrophes of Hebrew and of romanized Arabic or Russian, and primes. NFKD takes some out of others: `ŉ` is `n`. */
const apostrophes = '`\u02b9-\u02bf\u05f3\u05f4\u2032\u2035';

/** Letters that Unicode does not take apart: `nesbo` is `Nesbø`. A sigma has another form at the end of a word. */
const latinAndGreek = {
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
};

/** Digits of other scripts are those of ASCII: `1984` is `۱۹۸۴`. The others follow the zero. */
const zeros = [
  '\u0660', // Arabic
  '\u06f0', // Persian, Urdu
  '\u0966', // Devanagari, of Hindi
  '\u09e6', // Bengali
  '\u0a66', // Gurmukhi, of Punjabi
  '\u0ae6', // Gujarati
  '\u0b66', // Odia
  '\u0be6', // Tamil
  '\u0c66', // Telugu
  '\u0ce6', // Kannada
  '\u0d66', // Malayalam
  '\u0e50', // Thai
  '\u0ed0', // Lao
  '\u0f20', // Tibetan
  '\u1040', // Burmese
  '\u17e0', // Khmer
];

/**
 * Points are left out: `שלום` is `שָׁלוֹם`. Marks of other scripts are vowels, and those of kana tell が from か, so they
 * count.
 */
const points = [
  '\u0591-\u05bd\u05bf-\u05c7', // Hebrew
  '\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed', // Arabic
  '\u0640', // tatweel, the line that makes a word of Arabic longer
  '\u093c', // the dot of borrowed letters in Hindi
].join('');

/** What is invisible is left out, such as a soft hyphen. With \p{Default_Ignorable_Code_Point}, a search takes twice the time. */
const invisible =
  '\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufff8';

/** Those above U+FFFF: musical and shorthand controls, tags, and variants of Han, as in `辻󠄀`. */
const invisiblePairs = '\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]';

/** More marks in a row than a language has (UAX #15, Stream-Safe Text Format), with the voicing of halfwidth kana. */
const pile = /[\p{M}\uff9e\uff9f]{31,}/gu;

const quoting = new RegExp(`[${quotationMarks}]`, 'gu');

const ignored = new RegExp(`[${accents}${apostrophes}${points}${invisible}]|${invisiblePairs}`, 'g');

const digits = zeros.flatMap((zero) =>
  Array.from({ length: 10 }, (_, digit) => [String.fromCharCode(zero.charCodeAt(0) + digit), `${digit}`] as const),
);

const spellings: Readonly<Record<string, string>> = { ...latinAndGreek, ...arabic, ...Object.fromEntries(digits) };

const spelled = new RegExp(`[${Object.keys(spellings).join('')}]`, 'g');

/** All that has to be replaced is one of these. */
const unusual = /["'`\u0080-\uffff]/;

/** Reduces a text to letters as people type them: `Brontë`, `BRONTE` and a `Brontë` in full width become `bronte`. */
export function fold(text: string): string {
  // Stryker disable next-line ConditionalExpression: it saves half of the time
  if (!unusual.test(text)) return text.toLowerCase();
  const bare = text.replace(quoting, '');
  // Stryker disable next-line ConditionalExpression: it saves half of the time of a text with an apostrophe
  if (!unusual.test(bare)) return bare.toLowerCase();
  const letters = normalize(bare, 'NFKD').toLowerCase().replace(ignored, '');
  // NFC puts kana and the syllables of Korean together again, so that a part of one is not found.
  return normalize(
    letters.replace(spelled, (letter) => `${spellings[letter]}`),
    'NFC',
  );
}

/** A pile of marks in a text of this length takes 0.15 ms. */
const fewCharacters = 300;

/** `normalize` takes the square of the number of marks in a row: 47 s for a title of 390 KB. */
function normalize(text: string, form: 'NFKD' | 'NFC'): string {
  // Stryker disable next-line ConditionalExpression,EqualityOperator: it saves a third of the time
  return (text.length > fewCharacters ? text.replace(pile, '') : text).normalize(form);
}
