import { inspect } from 'node:util';
import { type BookFields, bookFields } from '../../lib/books/book.ts';
import { isTooLarge } from '../../lib/dynamodb/books/stored-book.ts';
import { type Field, isValueOf, type Kind, type Schema } from '../../lib/fields.ts';
import { CommandError } from './errors.ts';

export type FieldName = keyof BookFields;

/** The fields of a book that a file can have. */
export const fieldNames = Object.keys(bookFields) as readonly FieldName[];

/** The name of the column, or of the member in NDJSON, of each field that a file has. */
export type Columns = Readonly<Partial<Record<FieldName, string>>>;

/** The user's options: columns with other names than their fields, and fields that the file does not have. */
export type ColumnOptions = { readonly columns: Columns; readonly without: readonly FieldName[] };

const maxShownLength = 30;
const maxNamesLength = 300;

/** The names of the columns to look for, by default those of the fields. */
export function expectColumns({ columns, without }: ColumnOptions): Columns {
  const expected = fieldNames.filter((field) => !without.includes(field));
  return Object.fromEntries(expected.map((field) => [field, columns[field] ?? field]));
}

/**
 * Finds the fields whose values the file may have under other names. Either the file lacks a column that the user named, or
 * it lacks the column of a field and has columns of other names: in `title,author,published`, the years may be in
 * `published`. An `id` does not count. So a file from before a field was added needs no option.
 */
export function findUnclear(names: readonly string[], expected: Columns, named: Columns): FieldName[] {
  const known = [...Object.values(expected), 'id'];
  const hasOthers = names.some((name) => !known.includes(name));
  const fields = Object.keys(expected) as FieldName[];
  return fields.filter((field) => !names.includes(expected[field] ?? '') && (hasOthers || field in named));
}

/**
 * Finds the columns of a CSV header, whatever their case.
 *
 * @returns the columns as the header writes them
 * @throws {CommandError} when one is there twice, or may have another name
 */
export function findColumns(header: readonly string[], expected: Columns, named: Columns): Columns {
  const names = header.map((name) => name.toLowerCase());
  const entries = Object.entries(expected).map(([field, column]) => [field, column.toLowerCase()] as const);
  const unclear = findUnclear(names, Object.fromEntries(entries), named);
  if (unclear.length > 0) {
    const columns = unclear.map((field) => `${field}="Column name"`);
    const advice = `name each, as in --columns ${columns}, or confirm its absence with --without ${unclear}`;
    const row = `the first row, which has to be the header: ${quote(header)}`;
    throw new CommandError(`no column ${quote(unclear.map((field) => `${expected[field]}`))} in ${row}; ${advice}`);
  }
  const found = entries.flatMap(([field, column]) => {
    const [name, ...others] = header.filter((each) => each.toLowerCase() === column);
    if (others.length > 0) throw new CommandError(`two columns are the ${field}: ${quote([`${name}`, ...others])}`);
    return name === undefined ? [] : [[field, name]];
  });
  return Object.fromEntries(found);
}

/** @returns the names in quotation marks, cut to a length that a terminal can show */
export function quote(names: readonly string[]): string {
  const text = names.map((name) => JSON.stringify(name)).join(', ');
  return text.length > maxNamesLength ? `${text.slice(0, maxNamesLength)}…` : text;
}

/** @returns a book as POST /book parses it, or the reason of its refusal; an undefined field has its default */
export function toBook(values: Readonly<Partial<Record<FieldName, unknown>>>): BookFields | string {
  const book: Record<string, unknown> = {};
  for (const name of fieldNames) {
    const field: Field = bookFields[name];
    const { [name]: value = field.default } = values;
    if (!isValueOf(field, value)) {
      return `${name} is not ${describeValue(field)}: ${inspect(value, { breakLength: Infinity }).slice(0, maxShownLength)}`;
    }
    book[name] = value;
  }
  return isTooLarge(book) ? 'is larger than the 400 KB that a book can have' : (book as object as BookFields);
}

/** Parses a cell of CSV as a value of a field. An empty cell is a missing value, except in a field of free text. */
export function parseCell(field: Field, cell: string): unknown {
  return cellKinds[field.type].parse(cell.trim(), cell, field);
}

interface CellKind {
  /** @returns the value; the text of the cell when it has none of this kind; `undefined` when it is missing */
  readonly parse: (trimmed: string, cell: string, schema: Schema) => unknown;
  /** Says in a rejection what a value has to be. */
  readonly describe: (schema: Schema) => string;
}

/** How a cell becomes a value of each kind. */
const cellKinds: Readonly<Record<Kind, CellKind>> = {
  string: {
    parse: (trimmed, cell, { enum: allowed }) => (allowed ? trimmed || undefined : cell),
    describe: ({ maxLength }) => (maxLength === undefined ? 'text' : `text of at most ${maxLength} characters`),
  },
  integer: {
    // Some programs write whole numbers as 1815.0.
    parse: (trimmed) => (/^-?\d+(?:\.0+)?$/.test(trimmed) ? Number(trimmed) : trimmed || undefined),
    describe: ({ minimum, maximum = '2^53-1' }) =>
      `a whole number ${minimum === undefined ? 'up' : `from ${minimum}`} to ${maximum}`,
  },
  boolean: {
    // Spreadsheets write capital letters.
    parse: (trimmed) => (/^(true|false)$/i.test(trimmed) ? /^t/i.test(trimmed) : trimmed || undefined),
    describe: () => 'true or false',
  },
};

function describeValue(schema: Schema): string {
  const { type, enum: allowed } = schema;
  return allowed ? `one of ${JSON.stringify(allowed).slice(1, -1)}` : cellKinds[type].describe(schema);
}
