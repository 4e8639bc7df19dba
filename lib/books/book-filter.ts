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
    const text = fold(name === 'q' ? textNames.map(read).join('\n') : String(read(name))).replace(leftOut, '');
    return words.every((word) => text.includes(word));
  };
}

/** A letter of a folded text. A class without properties of Unicode takes a third of the time. */
const letter = '[^\\0-@[-`{-\u00bf\u2000-\u206f\u3000-\u3020\u30fb]';

const dots = '.\u00b7\u2022\u2027\u30fb';

/**
 * What people leave out of a text: dashes, and the dots and blanks between initials. No word has one of them, so that
 * `jrr` finds `J. R. R. Tolkien`, and `r` still does.
 */
const leftOut = new RegExp(
  `[-\u05be\u2010-\u2015\u2212]|(?<=(?<!${letter})${letter})[${dots} ]+-?(?=${letter}(?!${letter}))`,
  'g',
);

/** An ellipsis is three dots by then. */
const separator = new RegExp(
  `[\\s\\p{Dash}\\p{Open_Punctuation}\\p{Close_Punctuation}\\p{Terminal_Punctuation}/~${dots}]`,
  'u',
);

/** Finds the words of a filter: the `+` of C++ and the `#` of F# are parts of words. */
function findWords(text: string): readonly string[] {
  return [...new Set(fold(text).split(separator))].filter((word) => word !== '');
}

/** Marks that people leave out when they type. Those of other scripts are vowels, and those of kana tell が from か. */
const ignored = new RegExp(
  `[${[
    '\u0300-\u036f', // accents
    '\u0591-\u05bd\u05bf-\u05c7', // the points of Hebrew
    '\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed', // those of Arabic, and the line that makes a word longer
    '\u093c', // the dot of borrowed letters in Hindi
    '`\u02b9-\u02bf\u2032', // apostrophes that were parts of other characters
    // \p{Default_Ignorable_Code_Point}, such as a soft hyphen. With the property, a search takes twice the time.
    '\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufff8',
  ].join('')}]|\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]`,
  'g',
);

/** Letters that Unicode does not take apart, as people type them. A sigma has another form at the end of a word. */
const spellings = {
  '&': 'and',
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
  '\u0629': '\u0647', // teh marbuta is heh
  '\u0649': '\u064a', // yeh without dots, and that of Persian
  '\u06cc': '\u064a',
  '\u06a9': '\u0643', // the kaf of Persian
};

const spelled = new RegExp(`[${Object.keys(spellings).join('')}]`, 'g');

/** All that has to be replaced is one of these. */
const unusual = /["&'`\u0080-\uffff]/;

/** Reduces a text to letters as people type them: `Brontë`, `BRONTE` and a `Brontë` in full width become `bronte`. */
function fold(text: string): string {
  // Stryker disable next-line ConditionalExpression: it saves half of the time
  if (!unusual.test(text)) return text.toLowerCase();
  // Apostrophes, also those of Hebrew and of romanized Arabic or Russian, and the primes and accents in their place.
  const bare = text.replace(/[\p{Quotation_Mark}`´\u1ffd\u02b9-\u02bf\u05f3\u05f4\u2032-\u2037]/gu, '');
  // Stryker disable next-line ConditionalExpression: it saves half of the time of a text with an apostrophe
  if (!unusual.test(bare)) return bare.toLowerCase();
  const letters = normalize(bare, 'NFKD').toLowerCase().replace(ignored, '');
  // NFC puts kana and the syllables of Korean together again, so that a part of one is not found.
  return normalize(
    letters.replace(spelled, (each) => spellings[each as keyof typeof spellings]),
    'NFC',
  );
}

/** More marks in a row than a language has (UAX #15, Stream-Safe Text Format), with the voicing of halfwidth kana. */
const pile = /[\p{M}\uff9e\uff9f]{31,}/gu;

/** A pile of marks in a text of this length takes 0.15 ms. */
const fewCharacters = 300;

/** `normalize` takes the square of the number of marks in a row: 47 s for a title of 390 KB. */
function normalize(text: string, form: 'NFKD' | 'NFC'): string {
  // Stryker disable next-line ConditionalExpression,EqualityOperator: it saves a third of the time
  return (text.length > fewCharacters ? text.replace(pile, '') : text).normalize(form);
}
