import type { APIGatewayProxyEvent } from 'aws-lambda';
import { combinedValue } from './header-values.ts';

/** An element of a list of entity tags and its separator (RFC 9110 sections 5.6.1 and 8.8.3). */
const element = /[ \t]*(?:(?<weak>W\/)?"(?<opaque>[\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

/** Makes the header with the strong tag of a version, if there is one (RFC 9110 section 8.8.3). */
export function entityTagHeader(version: string | undefined): Readonly<Record<string, string>> {
  return version === undefined ? {} : { ETag: `"${version}"` };
}

/**
 * Reads `If-Match` (RFC 9110 section 13.1.1), whose comparison is strong.
 *
 * @returns the versions that the client accepts, `undefined` for any (`*`, or no header); none when the header is no list
 *   of entity tags
 */
export function readIfMatch(event: APIGatewayProxyEvent): readonly string[] | undefined {
  const value = combinedValue(event, 'if-match');
  if (value === undefined || value === '*') return undefined;
  return parseEntityTags(value)
    .filter(({ weak }) => !weak)
    .map(({ opaque }) => opaque);
}

/** Evaluates `If-None-Match` (RFC 9110 section 13.1.2), whose comparison is weak: whether the client has the version. */
export function hasCurrentVersion(event: APIGatewayProxyEvent, version: string | undefined): boolean {
  const value = combinedValue(event, 'if-none-match');
  if (value === undefined) return false;
  return value === '*' || parseEntityTags(value).some(({ opaque }) => opaque === version);
}

/** Parses a list of entity tags, without their quotation marks; one malformed element makes it empty. */
function parseEntityTags(list: string) {
  const tags: { readonly opaque: string; readonly weak: boolean }[] = [];
  element.lastIndex = 0;
  while (element.lastIndex < list.length) {
    const { weak, opaque } = element.exec(list)?.groups ?? {};
    if (element.lastIndex === 0) return [];
    if (opaque !== undefined) tags.push({ opaque, weak: weak !== undefined });
  }
  return tags;
}
