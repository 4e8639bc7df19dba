import fc from 'fast-check';
import syntaxFragments from './syntax-fragments.json' with { type: 'json' };

/**
 * A character of Unicode, lone surrogates left out: ASCII and its edges as often as all the rest. fast-check's own
 * unit "binary" draws the same but takes a second to build its table in every test file.
 */
const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.constantFrom(0x80, 0xff, 0x2028, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x1f4da, 0x10ffff),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Parts of each syntax that a text meets: JSON, DynamoDB's JSON, CSV, HTTP, templates, regular expressions, Unicode. */
export const fragments: readonly string[] = syntaxFragments;

const anyFragment = fc.constantFrom(...fragments);

/** A fragment alone half of the time: what surrounds it then is the syntax that the service or the engine puts there. */
export const fragmentText = fc.oneof(anyFragment, fc.string({ unit: anyFragment, maxLength: 6 }));

/** Any text that UTF-8 can carry. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fragmentText,
  fc.string({ unit: fc.oneof(anyCharacter, anyFragment) }),
);

/** Half of a surrogate pair, which UTF-8 cannot carry. */
export const loneSurrogate = fc
  .integer({ min: 0xd800, max: 0xdfff })
  .map((codeUnit) => String.fromCharCode(codeUnit));
