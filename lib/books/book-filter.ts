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
    const text = fold(name === 'q' ? textNames.map(read).join('\n') : String(read(name)));
    return words.every((word) => text.includes(word));
  };
}

/** Finds the words of a filter: the `+` of C++, the `#` of F# and the `&` of AT&T are parts of words. */
function findWords(text: string): readonly string[] {
  // An ellipsis is three dots by then.
  const words = fold(text).split(/[\s\p{Dash}\p{Open_Punctuation}\p{Close_Punctuation}.,;:!?/·]/u);
  return words.filter((word) => word !== '');
}

/** Marks that people leave out when they type. Those of other scripts are vowels, and those of kana tell が from か. */
const ignored = new RegExp(
  `[${[
    '\u0300-\u036f', // accents
    '\u0591-\u05bd\u05bf-\u05c7', // the points of Hebrew
    '\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed', // those of Arabic
    '\u093c', // the dot of borrowed letters in Hindi
    '\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff', // what is invisible, such as a soft hyphen
  ].join('')}]`,
  'g',
);

/** Letters that Unicode does not take apart, as people type them. A sigma has another form at the end of a word. */
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
};

const spelled = new RegExp(`[${Object.keys(spellings).join('')}]`, 'g');

/** All that has to be replaced is one of these. */
const unusual = /["'`\u0080-\uffff]/;

/** Reduces a text to letters as people type them: `Brontë`, `BRONTE` and a `Brontë` in full width become `bronte`. */
function fold(text: string): string {
  // Stryker disable next-line ConditionalExpression: it saves half of the time
  if (!unusual.test(text)) return text.toLowerCase();
  // Apostrophes, also those of Hebrew and of romanized Arabic or Russian, and the primes and accents in their place.
  const bare = text.replace(/[\p{Quotation_Mark}`´\u02b9-\u02bf\u05f3\u05f4\u2032-\u2037]/gu, '');
  // Stryker disable next-line ConditionalExpression: it saves half of the time of a text with an apostrophe
  if (!unusual.test(bare)) return bare.toLowerCase();
  const letters = bare.normalize('NFKD').toLowerCase().replace(ignored, '');
  // NFC puts kana and the syllables of Korean together again, so that a part of one is not found.
  return letters.replace(spelled, (letter) => spellings[letter as keyof typeof spellings]).normalize('NFC');
}
