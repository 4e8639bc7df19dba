import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { entityTagHeader, hasCurrentVersion, readIfMatch } from '../../../../lib/http/entity-tag.ts';
import { createEvent } from '../../../support/load-handlers.ts';

const withHeader = (name: string, value: string): APIGatewayProxyEvent =>
  createEvent({ headers: { [name]: value }, multiValueHeaders: { [name]: [value] } });

const ifMatch = (value: string) => readIfMatch(withHeader('if-match', value));

test('a book without a version has no tag, is in no list of tags, and matches *', () => {
  const hasCurrent = (value: string) => hasCurrentVersion(withHeader('if-none-match', value), undefined);

  expect(entityTagHeader(undefined)).toEqual({});
  expect(hasCurrent('"undefined", ""')).toBe(false);
  expect(hasCurrent('*')).toBe(true);
});

test('a header is read from an event without multiValueHeaders, and in two spellings as one', () => {
  const headers = { 'If-Match': '"a"' };
  const multiValueHeaders = { 'If-Match': ['"a"', '"b"'], 'if-match': ['"c"'] };

  expect(readIfMatch(createEvent({ headers, multiValueHeaders: null } as never))).toEqual(['a']);
  expect(readIfMatch(createEvent({ headers, multiValueHeaders }))).toEqual(['a', 'b', 'c']);
  expect(readIfMatch(createEvent({ headers: null, multiValueHeaders: null } as never))).toBeUndefined();
});

test.each(['"a""b"', '"a\x7f"', '"a",\r\n"b"'])('%j is not a list of tags, and matches nothing', (value) => {
  expect(ifMatch(value)).toEqual([]);
});

test.each([', ,"a", ,', '"a"\t,\t"b"', ' \t"a" \t', '"a","b"', '"", "é,"'])(
  '%j is a list of tags: elements may be empty, and white space is around them',
  (value) => {
    expect(ifMatch(value)).toEqual(Array.from(value.matchAll(/"([^"]*)"/g), ([, version]) => version));
  },
);
