import { AttemptError } from './errors.ts';
import type { ItemKey } from './keys.ts';

/** At most 1 MB of items (Amazon DynamoDB API Reference, "Query"). */
export interface QueryPage {
  /** The items as JSON objects with commas between them: `{"id":1,"title":"Emma"}`. */
  readonly items: string;
  /** Where the Query continues; absent at the end of the partition. */
  readonly lastEvaluatedKey?: ItemKey;
}

/**
 * A string or a number in DynamoDB's JSON (Amazon DynamoDB Developer Guide, "Low-level API"): `{"S":"Emma"}`, `{"N":"1"}`.
 * No text of a book passes for one: inside a JSON string, a quotation mark never follows a brace without a backslash, and
 * a string that ends with a brace is not followed by the letter of a type.
 */
const typedValue = /\{\s*"(?:S"\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")|N"\s*:\s*"([^"]*)")\s*\}/g;

/**
 * Converts the response to a Query to plain JSON as text: with JSON.parse and JSON.stringify, a list takes twice the CPU
 * time (docs/benchmarks.md). The items have an attribute `id` and otherwise strings and numbers.
 *
 * @throws {AttemptError} when the body is no complete page
 */
export function readQueryPage(body: Uint8Array): QueryPage {
  const text = body.toString().replace(typedValue, '$1$2');
  const [start = ''] = /^.*?"Items"\s*:\s*\[/s.exec(text) ?? [];
  const end = text.lastIndexOf(']');
  const items = text.slice(start.length, end);
  const {
    Items: array,
    Count: count,
    LastEvaluatedKey: lastEvaluatedKey,
  } = JSON.parse(start + text.slice(end));
  if (!Array.isArray(array) || count !== (items.match(/"id"\s*:/g)?.length ?? 0)) {
    throw new AttemptError('the response is no page of books', { requestSent: true });
  }
  return { items, ...(lastEvaluatedKey && { lastEvaluatedKey }) };
}
