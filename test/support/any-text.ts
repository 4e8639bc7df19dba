import fc from 'fast-check';
import { fragments } from '../../conformance/fragments.ts';

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

const anyFragment = fc.constantFrom(...fragments);

/** A fragment alone half of the time: the syntax of the service or the engine then surrounds it. */
export const fragmentText = fc.oneof(anyFragment, fc.string({ unit: anyFragment, maxLength: 6 }));

/** Any text that UTF-8 can encode. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fragmentText,
  fc.string({ unit: fc.oneof(anyCharacter, anyFragment) }),
);
