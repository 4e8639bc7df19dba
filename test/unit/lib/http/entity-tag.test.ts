import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entityTagHeader, hasCurrentVersion, readIfMatch } from '../../../../lib/http/entity-tag.ts';
import { createEvent } from '../../../support/load-handlers.ts';

const withHeader = (name: string, ...values: string[]): APIGatewayProxyEvent =>
  createEvent({ headers: { [name]: values.at(-1) ?? '' }, multiValueHeaders: { [name]: values } });

const ifMatch = (...values: string[]) => readIfMatch(withHeader('if-match', ...values));

/** Any tag that a client may send: visible ASCII without the quotation mark, and obs-text. */
const opaque = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 20,
});
const legalOpaque = opaque.map((text) => text.replace(/["\x7f]/g, ''));

describe('entityTagHeader', () => {
  test('a version is a strong tag', () => {
    expect(entityTagHeader('abc')).toEqual({ ETag: '"abc"' });
  });

  test('a book without a version has no tag', () => {
    expect(entityTagHeader(undefined)).toEqual({});
  });
});

describe('readIfMatch', () => {
  test.each([
    ['one tag', ['"a"'], ['a']],
    ['a list', ['"a", "b","c"'], ['a', 'b', 'c']],
    ['spaces and tabs around', ['  "a"\t ,\t"b"  '], ['a', 'b']],
    ['empty elements, which RFC 9110 asks to ignore', [', "a",, ,"b",'], ['a', 'b']],
    ['the header twice', ['"a"', '"b", "c"'], ['a', 'b', 'c']],
    ['commas, spaces aside, and the syntax of lists in a tag', ['"a,W/b*\\", "c"'], ['a,W/b*\\', 'c']],
    ['obs-text', ['"\xe9\xff\x80"'], ['\xe9\xff\x80']],
    ['an empty tag', ['""'], ['']],
    ['weak tags, which never match', ['W/"a"'], []],
    ['weak tags between strong ones', ['W/"a", "b", W/"c"'], ['b']],
  ])('%s', (_name, values, expected) => {
    expect(ifMatch(...values)).toEqual(expected);
  });

  test.each(['*', ' * ', '\t*'])('%j is any version', (value) => {
    expect(ifMatch(value)).toBeUndefined();
  });

  test.each<[string, APIGatewayProxyEvent]>([
    ['no header', createEvent()],
    ['no headers', createEvent({ headers: null, multiValueHeaders: null } as never)],
    ['another header', withHeader('if-none-match', '"a"')],
  ])('%s is any version', (_name, event) => {
    expect(readIfMatch(event)).toBeUndefined();
  });

  test('an event without multiValueHeaders', () => {
    const event = createEvent({ headers: { 'if-match': '"a"' }, multiValueHeaders: null } as never);

    expect(readIfMatch(event)).toEqual(['a']);
  });

  test.each([
    '',
    ' ',
    ',',
    'a',
    '"a',
    'a"',
    '"a" "b"',
    '"a""b"',
    '"a", b',
    'b, "a"',
    '"a"; "b"',
    '*, "a"',
    '"a", *',
    '**',
    "'a'",
    'w/"a"',
    'W/ "a"',
    'W /"a"',
    '"a b"',
    '"a\tb"',
    '"a\x7f"',
    '"a\0"',
    '"ā"',
    '"a",\r\n"b"',
  ])('%j is no list of tags, and matches nothing', (value) => {
    expect(ifMatch(value)).toEqual([]);
  });

  test('* and a tag, each in a header of its own, match nothing', () => {
    expect(ifMatch('*', '"a"')).toEqual([]);
  });

  test('a list that is no list leaves nothing behind for the next one', () => {
    ifMatch('"a", "b" x');

    expect(ifMatch('"c"')).toEqual(['c']);
  });

  test('any list of tags is read as it was written', () => {
    const element = fc.record({ text: legalOpaque, weak: fc.boolean() });
    const separator = fc.constantFrom(',', ', ', ' ,\t', ',,', ' , , ');

    fc.assert(
      fc.property(fc.array(element, { minLength: 1 }), separator, (elements, between) => {
        const list = elements.map(({ text, weak }) => `${weak ? 'W/' : ''}"${text}"`).join(between);

        expect(ifMatch(list)).toEqual(elements.filter(({ weak }) => !weak).map(({ text }) => text));
      }),
    );
  });

  test.each([
    ['spaces', ' '.repeat(1_000_000)],
    ['spaces before what is no tag', `${' '.repeat(1_000_000)}x`],
    ['spaces behind a tag', `"a"${' '.repeat(1_000_000)}x`],
    ['commas', ','.repeat(1_000_000)],
    ['a tag without an end', `"${'a'.repeat(1_000_000)}`],
    ['tags', '"a",'.repeat(250_000)],
    ['weak tags without an end', 'W/"'.repeat(300_000)],
  ])('a megabyte of %s takes no time', (_name, value) => {
    const startedAt = performance.now();

    ifMatch(value);

    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe('hasCurrentVersion', () => {
  const has = (version: string | undefined, ...values: string[]) =>
    hasCurrentVersion(withHeader('if-none-match', ...values), version);

  test.each(['"a"', 'W/"a"', '"b", "a"', 'W/"b",W/"a"', '*', ' * ', ', "a"'])('%s holds "a"', (value) => {
    expect(has('a', value)).toBe(true);
  });

  test.each(['', '"b"', 'a', 'w/"a"', '"a", x', '"A"', '" a"', '"a', '""', '*, "b"'])(
    '%s does not hold "a"',
    (value) => {
      expect(has('a', value)).toBe(false);
    },
  );

  test('the second header of two counts too', () => {
    expect(has('a', '"b"', '"a"')).toBe(true);
  });

  test('without the header no version is the client’s', () => {
    expect(hasCurrentVersion(createEvent(), 'a')).toBe(false);
  });

  test('a book without a version is in none, but it is there', () => {
    expect(has(undefined, '"undefined", ""')).toBe(false);
    expect(has(undefined, '*')).toBe(true);
  });
});
