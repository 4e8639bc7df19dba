import { type Book, bookFields } from '../../books/book.ts';
import type { Matcher } from '../../books/book-filter.ts';
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
}

/** A value in DynamoDB's JSON (Amazon DynamoDB Developer Guide, "Low-level API"). */
interface AttributeValue {
  readonly S?: string;
  readonly N?: string;
  readonly BOOL?: boolean;
}

type Attributes = Readonly<Record<string, AttributeValue>>;

/** The members of a response besides its items. */
interface Members {
  readonly Count?: number;
  readonly LastEvaluatedKey?: Attributes;
}

/**
 * Converts the response to a Query to the JSON of its books, whose fields have the order of a single read. The page stays
 * text, because a list of books that are parsed and written again takes twice the CPU time. From bytes to books, with
 * line breaks that DynamoDB does not send:
 *
 *     {"Count":2,"Items":[
 *     {"year":{"N":"1815"},"title":{"S":"Emma"},"author":{"S":"Jane Austen"},"id":{"N":"7"}},
 *     {"title":{"S":"Ulysses"},"author":{"S":"James Joyce"},"id":{"N":"8"}}
 *     ],"ScannedCount":2,"LastEvaluatedKey":{"shard":{"N":"0"},"id":{"N":"8"}}}
 *
 * 1. `itemsStart` matches `"Items":[`. The items, in the second and third lines, end before the last bracket.
 * 2. `attributeName` matches the names of the first item, in an order that DynamoDB does not promise.
 * 3. {@link createItemPattern} makes the expression that matches one item after the other, in that order, and captures its
 *    values.
 * 4. {@link convertItems} replaces each item with its book, in the order of the table of fields. The second book is older
 *    than the year, so that nothing follows `"year":` until it gets its default:
 *
 *        {"id":7,"title":"Emma","author":"Jane Austen","year":1815},
 *        {"id":8,"title":"Ulysses","author":"James Joyce","year":0}
 *
 *    With a filter, {@link findBooks} makes only the books that match.
 * 5. An unusual item, such as one with white space, is left in step 4. Then {@link parseItems} converts the whole page.
 *
 * No text of a book passes for a name, because quotation marks inside a JSON string have a backslash before them.
 *
 * @param matches - leaves other books out
 * @throws {AttemptError} when the body is not a complete page, or a book has a field of the wrong type
 */
export function readBooks(body: Uint8Array, matches?: Matcher): QueryPage {
  const text = body.toString();
  const opening = itemsStart.exec(text);
  if (opening === null) throw notAPage();
  const start = opening.index + opening[0].length;
  const end = text.lastIndexOf(']');
  const items = text.slice(start, end);
  const members: Members = JSON.parse(text.slice(0, start) + text.slice(end));
  const { Count: count, LastEvaluatedKey: lastKey = {} } = members;
  const found = matches ? findBooks(items, count, matches) : convertItems(items, count);
  return { books: found ?? parseItems(items, count, matches), continueAfter: findEnd(lastKey) };
}

const itemsStart = /"Items"\s*:\s*\[/;

/** An attribute's value by its kind, with the JSON of a book in a group. Each number of 15 digits is a safe integer. */
const valuePatterns: Readonly<Record<Kind, string>> = {
  string: String.raw`\{"S":("[^"\\]*(?:\\.[^"\\]*)*")\}`,
  integer: String.raw`\{"N":"(0|-?[1-9]\d{0,14})"\}`,
  // Stryker disable next-line StringLiteral: no field is a boolean
  boolean: String.raw`\{"BOOL":(true|false)\}`,
};

const kindsByName: Readonly<Record<string, Kind>> = {
  id: 'integer',
  ...Object.fromEntries(Object.entries(bookFields).map(([name, { type }]) => [name, type])),
};

const names = Object.keys(kindsByName);

const attributeName = new RegExp(`(?<=")(?:${names.join('|')})(?=":\\{)`, 'g');

const defaults = Object.fromEntries(
  Object.entries(bookFields).map(([name, field]) => [name, JSON.stringify(field.default)]),
);

/** Puts a default where the value is absent. A text has a backslash before the quotation marks of such a name. */
const fillings = Object.entries(defaults).map(([name, value]) => ({
  absent: new RegExp(`"${name}":(?=[,}])`, 'g'),
  // Stryker disable next-line StringLiteral: no default has a dollar sign
  filled: `"${name}":${value.replaceAll('$', '$$$$')}`,
}));

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
 * Makes the expression for items whose attributes are in this order. Any but the id may be absent. The first group is the
 * comma before an item, the others are the values.
 */
function createItemPattern(order: readonly string[]): RegExp {
  const attributes = order.map((name) => {
    const pattern = `[{,]"${name}":${valuePatterns[kindsByName[name] as Kind]}`;
    return name === 'id' ? pattern : `(?:${pattern})?`;
  });
  return new RegExp(`(^|(?<=\\}),)${attributes.join('')}\\}`, 'gy');
}

/** One `replace` for all items, because most instances read few pages, before V8 optimizes a loop. @returns see step 5 */
function convertItems(items: string, count: number | undefined): string | undefined {
  const order = findOrder(items);
  const members = names.map((name) => `"${name}":$${order.indexOf(name) + 2}`);
  let books = items.replace(createItemPattern(order), `$1{${members.join()}}`);
  // From the first unusual item on, items are left. An item ends with two braces, and a book with one.
  if (!items.endsWith('}}') || books.endsWith('}}')) return undefined;
  // Stryker disable next-line ConditionalExpression,Regex: it saves time, nothing is filled where nothing is absent
  if (/":[,}]/.test(books)) for (const { absent, filled } of fillings) books = books.replace(absent, filled);
  return books.split('{"id":').length - 1 === count ? books : undefined;
}

/** Parses only the values that `matches` reads. @returns see step 5 */
function findBooks(items: string, count: number | undefined, matches: Matcher): string | undefined {
  const order = findOrder(items);
  const groupOf = (name: string) => order.indexOf(name) + 2;
  const fields = names.map((name, index) => {
    const start = `${index === 0 ? '{' : ','}"${name}":`;
    return { start, group: groupOf(name), absent: defaults[name] };
  });
  // A function of its own, because V8 takes several times as long to optimize both loops as one.
  const makeBook = (item: readonly string[]) => {
    let book = '';
    for (const { start, group, absent } of fields) book += start + (item[group] ?? absent);
    return `${book}}`;
  };
  const books: string[] = [];
  let seen = 0;
  let end = 0;
  for (const item of items.matchAll(createItemPattern(order))) {
    seen += 1;
    end = item.index + item[0].length;
    if (matches((name) => JSON.parse(item[groupOf(name)] ?? `${defaults[name]}`))) books.push(makeBook(item));
  }
  return seen === count && end === items.length ? books.join() : undefined;
}

/** Converts items of any form, such as one with a number of more than 15 digits, value by value. */
function parseItems(items: string, count: number | undefined, matches: Matcher = () => true): string {
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
