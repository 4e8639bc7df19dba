import fc from 'fast-check';

/**
 * A character of Unicode, lone surrogates left out: ASCII and its edges as often as all the rest. fast-check's own
 * unit "binary" draws the same but takes a second to build its table in every test file.
 */
const anyCharacter = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.constantFrom(0x80, 0xff, 0x2028, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x1f4da, 0x10ffff),
  fc.integer({ min: 0x80, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
);

/** Any text that UTF-8 can carry. */
export const anyText = fc.string({ unit: anyCharacter.map((codePoint) => String.fromCodePoint(codePoint)) });

/** Half of a surrogate pair, which UTF-8 cannot carry. */
export const loneSurrogate = fc
  .integer({ min: 0xd800, max: 0xdfff })
  .map((codeUnit) => String.fromCharCode(codeUnit));
