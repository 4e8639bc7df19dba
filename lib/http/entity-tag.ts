import type { APIGatewayProxyEvent } from 'aws-lambda';
import { combinedValue } from './header-values.ts';

/** An entity tag (RFC 9110 section 8.8.3), and a list of them (section 5.6.1), whose elements may be empty. */
const tag = /(?<weak>W\/)?"(?<opaque>[\x21\x23-\x7e\x80-\xff]*)"/g;
const tagList = /^(?:[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))*$/;

/** Makes the header with the strong tag of a version, if there is one (RFC 9110 section 8.8.3). */
export function entityTagHeader(version: string | undefined): Readonly<Record<string, string>> {
  return version === undefined ? {} : { ETag: `"${version}"` };
}

/**
 * Reads `If-Match` (RFC 9110 section 13.1.1), whose comparison is strong.
 *
 * @returns the versions that the client accepts, `undefined` for any; none when the header is no list of entity tags
 */
export function readIfMatch(event: APIGatewayProxyEvent): readonly string[] | undefined {
  const value = combinedValue(event, 'if-match');
  if (value === undefined || value === '*') return undefined;
  return parseEntityTags(value).flatMap(({ weak, opaque = '' }) => (weak ? [] : [opaque]));
}

/** Evaluates `If-None-Match` (RFC 9110 section 13.1.2), whose comparison is weak: whether the client has the version. */
export function hasCurrentVersion(event: APIGatewayProxyEvent, version: string | undefined): boolean {
  const value = combinedValue(event, 'if-none-match');
  if (value === undefined) return false;
  return value === '*' || parseEntityTags(value).some(({ opaque }) => opaque === version);
}

/** Parses a list of entity tags, without their quotation marks; one malformed element makes it empty. */
function parseEntityTags(list: string) {
  return tagList.test(list) ? Array.from(list.matchAll(tag), ({ groups = {} }) => groups) : [];
}
