import type { APIGatewayProxyEvent } from 'aws-lambda';
import { combinedValue, headerValues } from './header-values.ts';

/** RFC 9110 section 8.8.3. */
const tag = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** What a proxy that compresses adds to a tag: Apache `"x-br"` or `"x-gzip"`, and Caddy `"x-gzip"` or `"x-zstd"`. */
const codingSuffix = /-(?:br|gzip|zstd)(?=")/;

/** A list of entity tags, whose elements may be empty (RFC 9110 section 5.6.1). */
const tagList = /^(?:[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?(?:,|$))*$/;

/** Makes the header with the strong tag of a version, if there is one (RFC 9110 section 8.8.3). */
export function entityTagHeader(version: string | undefined): Readonly<Record<string, string>> {
  return version === undefined ? {} : { ETag: `"${version}"` };
}

/**
 * Reads `If-Match` (RFC 9110 section 13.1.1), whose comparison is strong. A weak tag never matches: `W/"x"` is cut to
 * `/"x`, which is no version.
 *
 * @returns the versions that the client accepts: `undefined` for any, and none when the header is malformed
 */
export function readIfMatch(event: APIGatewayProxyEvent): readonly string[] | undefined {
  const value = combinedValue(event, 'if-match');
  if (value === '*' || headerValues(event, 'if-match').length === 0) return undefined;
  return parseEntityTags(value).map((each) => each.slice(1, -1));
}

/** Tells whether `If-None-Match` (RFC 9110 section 13.1.2), whose comparison is weak, names the version. */
export function hasCurrentVersion(event: APIGatewayProxyEvent, version: string | undefined): boolean {
  const value = combinedValue(event, 'if-none-match');
  const { ETag } = entityTagHeader(version);
  return value === '*' || parseEntityTags(value).some((each) => each.replace('W/', '') === ETag);
}

/** Parses a list of entity tags, without what proxies added. A list with a malformed element has none. */
function parseEntityTags(list: string): readonly string[] {
  return tagList.test(list) ? Array.from(list.matchAll(tag), ([text]) => text.replace(codingSuffix, '')) : [];
}
