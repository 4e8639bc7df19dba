import { type BookFields, bookFields } from './book.ts';

/** What a list looks for: values of fields, and `q`, words in any of the texts. Without any, it has all books. */
export type BookFilter = Readonly<Partial<BookFields> & { q?: string }>;

/** Tells whether a book is one of those that a filter looks for. @param read - gets the value of a field of the book */
export type Matcher = (read: (name: string) => unknown) => boolean;

/**
 * Makes the function that compares a book with a filter (specification 7.9). A text matches when it contains each word of
 * the filter, in any order. Any other value has to be equal.
 *
 * @returns `undefined` when all books match
 */
export function createMatcher(filter: BookFilter = {}): Matcher | undefined {
  const conditions = Object.entries(filter).flatMap(([name, value]) => {
    if (typeof value !== 'string') return [(read) => read(name) === value] satisfies Matcher[];
    const words = findWords(value);
    return words.length === 0 ? [] : [containsWords(name, words)];
  });
  return conditions.length === 0 ? undefined : (read) => conditions.every((matches) => matches(read));
}

const textNames = Object.entries(bookFields).flatMap(([name, { type }]) => (type === 'string' ? name : []));

function containsWords(name: string, words: readonly string[]): Matcher {
  return (read) => {
    // A line feed is a blank, so no word is found across the end of a text.
    const text = leaveOut(fold(name === 'q' ? textNames.map(read).join('\n') : String(read(name))));
    return words.every((word) => text.includes(word));
  };
}

/** Finds the words of a filter: the `+` of C++ and the `#` of F# are parts of words. */
function findWords(text: string): readonly string[] {
  // Besides what ends sentences or parts of them: an ellipsis, which is three dots by then, and the dots between names.
  const words = fold(text).split(
    /[\s\p{Dash}\p{Open_Punctuation}\p{Close_Punctuation}\p{Terminal_Punctuation}/~\u00b7\u2022\u2027\u2219\u22c5\u30fb]/u,
  );
  return words.filter((word) => word !== '');
}

/**
 * Dashes, and dots and blanks between single letters. What is above "@" counts as a letter, because a class of all letters
 * takes several times as long.
 */
const leftOut = /[-\u058a\u05be\u2010-\u2015\u2212]|[. ]{1,3}(?=[^\0-@](?:[\0-@]|$))(?<=(?:^|[\0-@])[^\0-@][. ]{1,3})/g;

/**
 * Takes away what people leave out when they type: `j.r.r. tolkien` becomes `jrr. tolkien`, and `catch-22` becomes `catch22`.
 * No word of a filter has one of these characters, so a text never loses a word that is found without this.
 */
function leaveOut(text: string): string {
  return text.replace(leftOut, '');
}

/** Marks that people leave out when they type. Those of other scripts are vowels, and those of kana tell が from か. */
const ignored = new RegExp(
  `[${[
    '\u0300-\u036f', // accents
    '\u0591-\u05bd\u05bf-\u05c7', // the points of Hebrew
    '\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed', // those of Arabic, and its tatweel
    '\u093c', // the dot of borrowed letters in Hindi
    '\u0060\u02b9-\u02bf\u2032', // apostrophes that come of NFKD
    // What is invisible, such as a soft hyphen (Default_Ignorable_Code_Point).
    '\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8',
  ].join('')}]`,
  'g',
);

/** What is invisible beyond U+FFFF, such as a variation selector. In one expression with the others, it takes twice the time. */
const ignoredPairs = /[\udb40-\udb43][\udc00-\udfff]|\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]/g;

/** Letters that Unicode does not take apart, and `&`, as people type them. A sigma has another form at the end of a word. */
const spellings = {
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
  '&': 'and',
  // Arabic, as keyboards and people differ.
  '\u0649': '\u064a',
  '\u06cc': '\u064a',
  '\u06a9': '\u0643',
  '\u0629': '\u0647',
};

const spelled = new RegExp(`[${Object.keys(spellings).join('')}]`, 'g');

/** All that has to be replaced is one of these. */
const unusual = /["'`&\u0080-\uffff]/;

/** More marks in a row than any language has (UAX #15, Stream-Safe Text Format). NFKD takes the square of their number. */
const pile = /[\p{M}\uff9e\uff9f]{31,}/gu;

/** To look for piles takes time, and a text of this length takes little in any case. */
const maxLengthWithPiles = 500;

/** Reduces a text to letters as people type them: `Brontë`, `BRONTE` and a `Brontë` in full width become `bronte`. */
function fold(text: string): string {
  // Stryker disable next-line ConditionalExpression: it saves half of the time
  if (!unusual.test(text)) return text.toLowerCase();
  // Apostrophes, also those of Hebrew and of romanized Arabic or Russian, and the primes and accents in their place.
  const bare = text.replace(/[\p{Quotation_Mark}`´\u1ffd\u02b9-\u02bf\u05f3\u05f4\u2032-\u2037]/gu, '');
  // Stryker disable next-line ConditionalExpression: it saves half of the time of a text with an apostrophe
  if (!unusual.test(bare)) return bare.toLowerCase();
  // Stryker disable next-line EqualityOperator: it saves time
  const flat = bare.length > maxLengthWithPiles ? bare.replace(pile, '') : bare;
  const letters = flat.normalize('NFKD').toLowerCase().replace(ignored, '').replace(ignoredPairs, '');
  // NFC puts kana and the syllables of Korean together again, so that a part of one is not found.
  return letters.replace(spelled, (letter) => spellings[letter as keyof typeof spellings]).normalize('NFC');
}
