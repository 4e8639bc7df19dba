import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Book } from './book.ts';

/** Attributes in DynamoDB's JSON, by name. */
export type Attributes = Record<string, AttributeValue>;

/** A book's item, so far as a book is made of it. */
export interface BookItem {
  readonly id: { readonly N: string };
  readonly title: { readonly S: string };
  readonly author: { readonly S: string };
  readonly year: { readonly N: string };
}

/**
 * Makes attributes of strings and numbers. lib-dynamodb could do the same for any value, in twice the time.
 *
 * @param values - safe integers and strings, by the names of the attributes
 */
export function toAttributes(values: Readonly<Record<string, string | number>>): Attributes {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'number' ? { N: String(value) } : { S: value },
    ]),
  );
}

/** @param item - a book's item, as it was written */
export function toBook({ id, title, author, year }: BookItem): Book {
  return { id: Number(id.N), title: title.S, author: author.S, year: Number(year.N) };
}
