import { bookFields } from '../../books/book.ts';
import { AttemptError } from '../connection/errors.ts';
import { type ItemKey, isLastOfShard } from '../table/keys.ts';
import { parseBook, storedKinds } from '../table/stored-items.ts';

/** A page of a Query: at most 1 MB of items (Amazon DynamoDB API Reference, "Query"). */
export interface QueryPage {
  /** JSON objects with commas between them. */
  readonly items: string;
  /**
   * Where the Query continues. DynamoDB also returns a `LastEvaluatedKey` when a page reaches its limit with the last item
   * of a partition. Nothing follows the last id of a shard, so a full shard takes no Query for an empty page.
   */
  readonly nextStart: ItemKey | undefined;
}

/**
 * A string, a number or a boolean in DynamoDB's JSON (Amazon DynamoDB Developer Guide, "Low-level API"):
 * `{"S":"Emma"}`, `{"N":"1"}`, `{"BOOL":true}`.
 *
 * No text of a book passes for one. Inside a JSON string, a backslash stands between a brace and a quotation mark: the
 * title `{"S":"x"}` is stored as `"{\"S\":\"x\"}"`. After a string that ends with a brace comes no name of a type.
 *
 * Numbers and booleans share a group. With one group for each, the conversion takes a tenth more time.
 */
const typedValue = /\{\s*"(?:S"\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")|(?:N"\s*:\s*"|BOOL"\s*:\s*)([-+.\w]*)"?)\s*\}/g;

/** A map, the one type of value that could contain the names of fields. */
const mapValue = /\{\s*"M"\s*:/;

/** The members of a response besides its items, with plain values. */
interface Members {
  readonly Count?: number;
  readonly LastEvaluatedKey?: ItemKey;
}

const itemsStart = /"Items"\s*:\s*\[/;

/** What matches a member in the text of items, and no text of a book, because its quotation marks have backslashes. */
const patternOf = (name: string, value: string) => new RegExp(`"${name}"\\s*:\\s*${value}`, 'g');
const anId = patternOf('id', '');

interface FieldText {
  readonly anyValue: RegExp;
  readonly validValue: RegExp;
  /** The member of an item that lacks the field. */
  readonly default: string;
}

const fields = Object.entries(bookFields).map(([name, { type, default: value }]): FieldText => {
  const validValue = patternOf(name, storedKinds[type].json.source);
  return { anyValue: patternOf(name, ''), validValue, default: `"${name}":${JSON.stringify(value)},` };
});

/** The brace before the first name of an item. After a brace at the end of a text comes no name with a colon. */
const itemStart = /\{(?=\s*"[^"]*"\s*:)/;

/**
 * Converts the response to a Query to plain JSON as text. With JSON.parse and JSON.stringify, a list takes twice the CPU
 * time. They convert only pages with unusual items, such as a number of more than 15 digits. A book
 * that is older than a field has its default, which comes first. An example:
 *
 *     {"Count":1,"Items":[{"id":{"N":"1"},"title":{"S":"Emma"},"author":{"S":""}}]}
 *     {"year":0,"id":1,"title":"Emma","author":""}
 *
 * @throws {AttemptError} when the body is not a complete page, or a book has a field of the wrong type
 */
export function readBooks(body: Uint8Array): QueryPage {
  const text = body.toString().replace(typedValue, '$1$2');
  const found = itemsStart.exec(text);
  if (found === null) throw notAPage();
  const start = found.index + found[0].length;
  const end = text.lastIndexOf(']');
  const items = text.slice(start, end);
  const { Count: count, LastEvaluatedKey: last } = JSON.parse(text.slice(0, start) + text.slice(end)) as Members;
  const countOf = (pattern: RegExp) => items.match(pattern)?.length ?? 0;
  if (countOf(anId) !== count) throw notAPage();
  // Stryker disable next-line MethodExpression,ConditionalExpression: it saves time, a field that all books have is added to none
  const incomplete = fields.filter(({ validValue }) => countOf(validValue) !== count);
  const isValid = ({ anyValue, validValue }: FieldText) => countOf(anyValue) === countOf(validValue);
  const isPlain = incomplete.every(isValid) && !mapValue.test(items);
  const parse = () => JSON.stringify(JSON.parse(`[${items}]`).map(parseBook)).slice(1, -1);
  return {
    items: isPlain ? addDefaults(items, incomplete) : parse(),
    nextStart: last && !isLastOfShard(last) ? last : undefined,
  };
}

/** Completes the items that lack one of these fields. */
function addDefaults(items: string, incomplete: readonly FieldText[]): string {
  // Stryker disable next-line ConditionalExpression: it saves time, no book would get a default
  if (incomplete.length === 0) return items;
  const books = items.split(itemStart).slice(1);
  const completed = books.map((book) => {
    const missing = incomplete.filter(({ anyValue }) => book.search(anyValue) === -1);
    return `{${missing.map((field) => field.default).join('')}${book}`;
  });
  return completed.join('');
}

function notAPage(): AttemptError {
  return new AttemptError('the response is not a page of books', { mayBeDone: false });
}
