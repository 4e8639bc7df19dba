/**
 * How words are found: the tables "Words" and "Left out" of rule 7.9, row by row, after the ranges that they are made of.
 * Texts and parameters have been folded, so an ellipsis is three dots by then.
 */

import { fold } from './letters.ts';

/** Dashes, with those of Hebrew and kana, and the minus sign. */
const dashes = '-\u05be\u2010-\u2015\u2212\u30a0';

/** The dots between names, as in 加西亚·马尔克斯. A full stop is not among them, because it also ends sentences. */
const dots = '\u00b7\u2022\u2027\u30fb';

/** What is neither a letter nor a digit. Properties of Unicode would take three times as long. */
const marks = [
  '\\0-/:-@[-`{-\u00bf\u00d7\u00f7', // ASCII and Latin-1
  '\u2000-\u2bff', // punctuation and symbols
  '\u3000-\u3004\u3008-\u3020\u30fb', // punctuation of Chinese and Japanese
].join('');

const letterOrDigit = `[^${marks}]`;

const letter = `[^0-9${marks}]`;

/** Letters of the scripts that need no blanks. */
const unspaced = [
  '\u0e00-\u109f', // Thai, Lao, Tibetan, Burmese
  '\u1780-\u17ff', // Khmer
  '\u3031-\u30ff', // kana
  '\u3005-\u3007\u3400-\u9fff', // Han
  '\uac00-\ud7a3', // Hangul
  '\ud800-\udfff', // halves of a character, such as a rare Han
].join('');

/** In Persian it is an ending, after a half-space or a blank: `خانه ی`. */
const yeh = '\u064a';

/** A letter that stands alone, in a script with blanks: the J in `J. Austen`, but not 夏. */
const initial = `(?<!${letterOrDigit})[^0-9${marks}${unspaced}${yeh}](?!${letterOrDigit})`;

/** These separate words, so that `frank herbert` finds `Herbert, Frank`. Any other mark is a part of its word: `c++`. */
const separator = new RegExp(
  `[${[
    '\\s',
    '\\p{Dash}~',
    '\\p{Open_Punctuation}\\p{Close_Punctuation}', // brackets
    '\\p{Terminal_Punctuation}¡¿', // what ends, divides or begins sentences
    dots,
    '/|=',
  ].join('')}]`,
  'u',
);

/** These are not typed: `max & moritz` finds `Max und Moritz`, and `dune by herbert` finds Herbert's Dune. */
const notAWord = /^(?:and|by|[^\p{Letter}\p{Number}]*)$/u;

/** Initials with blanks between them. Only the first one begins a row, which takes linear time. */
const bareInitials = `${initial}(?<!${initial} +.)(?: +${initial}(?!\\.))+`;

/**
 * Initials in a row are one word. Between other words, those without full stops are not, because one may be a word of the
 * title: `martin g r r a game of thrones`.
 */
const initialsInARow = new RegExp(
  [
    `(?:${initial}\\. *-?)+(?:${initial}\\.|(?<=\\.-?)${initial})`, // `J.K. Rowling`, `J. K. Rowling` and `J.K Rowling`
    `^ *${bareInitials}`, // `J K Rowling`
    `${bareInitials} *$`, // `Rowling, J K`
  ].join('|'),
  'g',
);

/**
 * What people leave out when they type, and the parameters for which it makes a difference. A parameter never has it inside
 * a word. Looking back second is twice as fast.
 */
const leftOut: readonly { pattern: string; typed?: RegExp }[] = [
  { pattern: `[${dashes}${dots}]` }, // `email` finds `E-Mail`, and `ハリーポッター` finds `ハリー・ポッター`
  { pattern: `[. ](?<=${initial}.)[. ]*-?(?=${initial})` }, // `jrr` finds `J. R. R. Tolkien`
  { pattern: `\\.(?<=${letter}.)(?=${letter})` }, // `nodejs` finds `Node.js`
  { pattern: '[,.:/](?<=[0-9].)(?=[0-9])', typed: /[0-9]/ }, // `20000` finds `20,000`
  { pattern: ' (?<=[^0-9] )(?=[0-9])', typed: /[0-9]/ }, // `catch22` finds `Catch 22`
  { pattern: ' (?=[&+])| (?<=[&+] )', typed: /[&+]/ }, // `q&a` finds `Q & A`
  {
    // `夏目漱石` finds `夏目, 漱石`
    pattern: `[ ,=\u3001](?<=[${unspaced}].)[ ,=\u3001]*(?=[${unspaced}])`,
    typed: new RegExp(`[${unspaced}]`),
  },
  {
    // `کتابها` finds `کتاب ها`, and `میشود` finds `می شود`
    pattern: ` (?=ها|(?:ا?${yeh}|تر|تر${yeh}ن)(?!${letterOrDigit}))| (?<=(?<!${letterOrDigit})ن?م${yeh} )`,
    typed: /\p{Script=Arabic}/u,
  },
];

/** All but the first letter of each word. A line feed ends a text. */
const restOfWords = new RegExp(`(?<=${letterOrDigit})${letterOrDigit}+|(?!\\n)[${marks}]`, 'g');

/**
 * Makes the function that tells whether a text has each word of a parameter, in any order. A word may be a part of a
 * longer one: `dun` finds `Dune`.
 *
 * @returns `undefined` when the parameter has no word
 */
export function createSearch(parameter: string): ((text: string) => boolean) | undefined {
  // The half-space of Persian ends a word here. A stored text has lost it, or has a blank in its place.
  const folded = fold(parameter.replaceAll('\u200c', ' '));
  const rows = new Set(folded.match(initialsInARow)?.map((row) => row.replace(/[. -]/g, '')));
  // `J. K.` finds the word `JK`, too.
  const initials = [...rows].map((row) => ({
    row,
    alone: new RegExp(`(?<!${letterOrDigit})${row}(?!${letterOrDigit})`),
  }));
  // Most texts lack one of the initials, which saves time.
  const parts = new Set([...folded.replace(initialsInARow, ' ').split(separator), ...[...rows].join('')]);
  const words = [...parts].filter((word) => !notAWord.test(word));
  if (words.length === 0) return undefined;
  // Stryker disable next-line MethodExpression: it saves a fifth of the time
  const omissible = leftOut.filter(({ typed }) => typed?.test(folded) ?? true).map(({ pattern }) => pattern);
  const omissions = new RegExp(omissible.join('|'), 'g');
  return (text) => {
    const stored = fold(text);
    const letters = stored.replace(omissions, '');
    if (!words.every((word) => letters.includes(word))) return false;
    // Stryker disable next-line ConditionalExpression: it saves time
    if (initials.length === 0) return true;
    const beginnings = stored.replace(restOfWords, '');
    return initials.every(({ row, alone }) => beginnings.includes(row) || alone.test(stored));
  };
}
