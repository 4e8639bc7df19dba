import { type Book, bookFields } from '../../books/book.ts';
import type { BookPredicate } from '../../books/book-filter.ts';
import type { Kind } from '../../fields.ts';
import { AttemptError } from '../connection/errors.ts';
import { shardOf } from '../table/keys.ts';
import { parseInteger } from '../table/stored-items.ts';
import { parseBook } from './stored-book.ts';

/** A page of a Query: at most 1 MB of items (Amazon DynamoDB API Reference, "Query"). */
export interface QueryPage {
  /** JSON objects with commas between them. */
  readonly books: string;
  /** The last id of the page, when its shard may have more items. */
  readonly continueAfter: number | undefined;
  /** How many books and how many tombstones the Query read. */
  readonly count: number;
  readonly tombstones: number;
}

/** A value in DynamoDB's JSON (Amazon DynamoDB Developer Guide, "Low-level API"). */
type AttributeValue = { readonly S?: string; readonly N?: string; readonly BOOL?: boolean };

type Attributes = Readonly<Record<string, AttributeValue>>;

interface Members {
  readonly Count: number;
  /** With what the filter left out. */
  readonly ScannedCount?: number;
  readonly LastEvaluatedKey?: Attributes;
}

/**
 * Converts the response to a Query to the JSON of its books, whose fields have the order of a single read. The page stays
 * text, because a list of books that are parsed and written again takes twice the CPU time. Example, with line breaks that
 * DynamoDB does not send:
 *
 *     {"Count":2,"Items":[
 *     {"year":{"N":"1815"},"title":{"S":"Emma"},"author":{"S":"Jane Austen"},"id":{"N":"7"}},
 *     {"title":{"S":"Ulysses"},"author":{"S":"James Joyce"},"id":{"N":"8"}}
 *     ],"ScannedCount":2,"LastEvaluatedKey":{"shard":{"N":"0"},"id":{"N":"8"}}}
 *
 * The expression that matches an item has the order of the first one. The second book is older than the year, and gets its
 * default. No text of a book passes for a name, because quotation marks inside a JSON string have a backslash before them.
 *
 * @param matches - leaves other books out
 * @throws {AttemptError} when the body is not a complete page, or a book has a field of the wrong type
 */
export function readBooks(body: Uint8Array, matches?: BookPredicate): QueryPage {
  const text = body.toString();
  const start = text.search(/(?<="Items"\s*:\s*\[)/);
  if (start === -1) throw notAPage();
  const end = text.lastIndexOf(']');
  const items = text.slice(start, end);
  const members: Members = JSON.parse(text.slice(0, start) + text.slice(end));
  const { Count: count, ScannedCount: scanned = count, LastEvaluatedKey: lastKey = {} } = members;
  const books = convertItems(items, count, matches) ?? parseItems(items, count, matches);
  return { books, continueAfter: findEnd(lastKey), count, tombstones: scanned - count };
}

/** An attribute's value by its kind, with the JSON of a book in a group. Each number of 15 digits is a safe integer. */
const valuePatterns: Readonly<Record<Kind, string>> = {
  string: String.raw`\{"S":("[^"\\]*(?:\\.[^"\\]*)*")\}`,
  integer: String.raw`\{"N":"(0|-?[1-9]\d{0,14})"\}`,
  // Stryker disable next-line StringLiteral: no field is a boolean
  boolean: String.raw`\{"BOOL":(true|false)\}`,
};

const kindsByName = new Map<string, Kind>([
  ['id', 'integer'],
  ...Object.entries(bookFields).map(([name, { type }]) => [name, type] as const),
]);

const names = [...kindsByName.keys()];

const attributeName = new RegExp(`(?<=")(?:${names.join('|')})(?=":\\{)`, 'g');

const defaults = Object.fromEntries(
  Object.entries(bookFields).map(([name, field]) => [name, JSON.stringify(field.default)]),
);

/** A value that is absent. A text has a backslash before the second quotation mark of such a name. */
const absent = new RegExp(`"(${names.join('|')})":(?=[,}])`, 'g');

/** @returns all names: those of the first item in its order, and then those that it lacks */
function findOrder(items: string): readonly string[] {
  const order: string[] = [];
  for (const [name] of items.matchAll(attributeName)) {
    if (order.includes(name)) break;
    order.push(name);
  }
  return [...order, ...names.filter((name) => !order.includes(name))];
}

/**
 * Converts items whose attributes have the order of the first item. Any but the id may be absent.
 *
 * @returns `undefined` when there is an item of another form, such as one with white space
 */
function convertItems(items: string, count: number, matches: BookPredicate | undefined): string | undefined {
  const order = findOrder(items);
  const attributes = order.map((name) => {
    const attribute = `[{,]"${name}":${valuePatterns[kindsByName.get(name) as Kind]}`;
    return name === 'id' ? attribute : `(?:${attribute})?`;
  });
  const item = new RegExp(`(?:^|(?<=\\}),)${attributes.join('')}\\}`, 'gy');
  const groupOf = (name: string) => order.indexOf(name) + 1;
  let books: string;
  let converted = 0;
  if (matches) {
    // Once a page, because a lookup for each book would double the time.
    const fields = names.map((name) => ({ start: `"${name}":`, group: groupOf(name), absent: defaults[name] }));
    books = items.replace(item, (...groups) => {
      converted += 1;
      if (!matches((name) => JSON.parse(groups[groupOf(name)] ?? defaults[name]))) return '';
      return `,{${fields.map(({ start, group, absent }) => start + (groups[group] ?? absent)).join()}}`;
    });
  } else {
    // By a text, because most instances read few pages, before V8 optimizes a function.
    const template = names.map((name) => `"${name}":$${groupOf(name)}`).join();
    books = items.replace(item, `,{${template}}`).replace(absent, (start, name) => start + defaults[name]);
    // Each book begins so, and no text does: its quotation marks have backslashes.
    converted = books.split('{"id":').length - 1;
  }
  // From the first unusual item on, items are left. An item ends with two braces, and a book with one.
  return converted === count && items.endsWith('}}') && !books.endsWith('}}') ? books.slice(1) : undefined;
}

/** Converts items of any form, such as one with a number of more than 15 digits, value by value. */
function parseItems(items: string, count: number, matches: BookPredicate = () => true): string {
  const parsed: readonly Attributes[] = JSON.parse(`[${items}]`);
  if (parsed.length !== count) throw notAPage();
  const books = parsed.map((item) =>
    parseBook(Object.fromEntries(Object.entries(item).map(([name, value]) => [name, parseValue(value)]))),
  );
  return JSON.stringify(books.filter((book) => matches((name) => book[name as keyof Book]))).slice(1, -1);
}

/** @returns NaN, which no field allows, for a value of another type */
function parseValue({ S, N, BOOL }: AttributeValue): string | number | boolean {
  return S ?? BOOL ?? Number(N);
}

/**
 * DynamoDB returns a key when a page reaches its limit, even with the last item of a partition. Nothing follows the last
 * id of a shard, so a full shard takes no Query for an empty page.
 */
function findEnd({ id }: Attributes): number | undefined {
  // The key of the last page may be empty.
  if (id === undefined) return undefined;
  const last = parseInteger(Number(id.N), 'a page ends without an id');
  return shardOf(last + 1) > shardOf(last) ? undefined : last;
}

function notAPage(): AttemptError {
  return new AttemptError('the response is not a page of books', { mayBeDone: false });
}
