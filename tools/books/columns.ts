import { type BookFields, bookFields } from '../../lib/books/book.ts';
import { isTooLarge } from '../../lib/dynamodb/stored-items.ts';
import { type Field, isValueOf, type Kind, type Schema } from '../../lib/fields.ts';
import { isIntegerLiteral } from '../../lib/http/json-body.ts';
import { CommandError } from './errors.ts';

export type FieldName = keyof BookFields;

/** The fields of a book that a file can have. */
export const fieldNames = Object.keys(bookFields) as readonly FieldName[];

export type Columns = Readonly<Partial<Record<FieldName, string>>>;

/** The user's options: the columns of fields, and the fields that the file does not have. */
export type ColumnOptions = { readonly columns: Columns; readonly without: readonly FieldName[] };

/** The first column of a file of rejected rows. */
export const reasonColumn = 'rejected_because';

/**
 * Known names of columns, best first, without case, accents, spaces and punctuation; then in German, French, Spanish. By
 * default a column has the name of its field. Files usually have these columns, so the user confirms that one is missing.
 */
const knownNames: Readonly<Partial<Record<FieldName, string>>> = {
  title: 'title booktitle originaltitle bookname name titel buchtitel titre titulo',
  author:
    'author authors bookauthor bookauthors authorname writer autor autoren autorin verfasser auteur auteurs autores',
  year: 'year yearofpublication publicationyear originalpublicationyear yearpublished publishedyear jahr erscheinungsjahr annee anneedepublication ano anodepublicacion',
};

const maxShownLength = 30;

/** Finds the columns of the fields. @throws {CommandError} when one is not clear, or missing without confirmation */
export function chooseColumns(names: readonly string[], options: ColumnOptions): Columns {
  const { columns: chosen, without } = options;
  const columns: Partial<Record<FieldName, string>> = {};
  for (const field of fieldNames) {
    const [name, second] = findColumns(names, field, chosen);
    if (without.includes(field) || name === undefined) continue;
    if (second !== undefined) throw new CommandError(`two columns are the ${field}: ${quote([name, second])}`);
    columns[field] = name;
  }
  // Missing columns of rejected rows were confirmed with their first file.
  const known = names.includes(reasonColumn) ? fieldNames : without;
  const usual = fieldNames.filter((field) => field in knownNames);
  const missing = usual.filter((field) => !(columns[field] || known.includes(field)));
  if (Object.keys(columns).length > 0 && missing.length === 0) return columns;
  const confirm = missing.length < usual.length ? `, or confirm its absence with --without ${missing}` : '';
  throw new CommandError(
    `no column for ${missing.join(', ')} among ${quote(names)}; name it, as in --columns ${missing[0]}="Column name"${confirm}`,
  );
}

function findColumns(names: readonly string[], field: FieldName, chosen: Columns): readonly string[] {
  const isChosen = (name: string, other = chosen[field]) => name.toLowerCase() === other?.trim().toLowerCase();
  if (chosen[field] !== undefined) return names.filter((name) => isChosen(name));
  const free = names.filter((name) => !Object.values(chosen).some((other) => isChosen(name, other)));
  const found = namesOf(field).map((known) => free.filter((name) => simplify(name) === known));
  return found.find(({ length }) => length > 0) ?? [];
}

function namesOf(field: FieldName): readonly string[] {
  return (knownNames[field] ?? simplify(field)).split(' ');
}

function simplify(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** @returns why an object without a member of a column is not a book: it may have it under another known name */
export function findMistake(members: readonly string[], columns: Columns): string | undefined {
  const used = Object.values(columns);
  for (const field of fieldNames) {
    const column = columns[field];
    if (column === undefined || members.includes(column)) continue;
    const known = [simplify(column), ...namesOf(field)];
    const meant = members.find((name) => !used.includes(name) && known.includes(simplify(name)));
    if (meant !== undefined) return `has no ${quote([column])}, but ${quote([meant])}`;
  }
  return undefined;
}

export function quote(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ');
}

/** @returns a book as POST /book parses it, or the reason of its refusal; an undefined field has its default */
export function checkBook(values: Readonly<Partial<Record<FieldName, unknown>>>): BookFields | string {
  const book: Record<string, unknown> = {};
  for (const name of fieldNames) {
    const field: Field = bookFields[name];
    const { [name]: value = field.default } = values;
    if (!isValueOf(field, value)) {
      return `${name} is not ${describeValue(field)}: ${JSON.stringify(value).slice(0, maxShownLength)}`;
    }
    book[name] = value;
  }
  return isTooLarge(book) ? 'is larger than the 400 KB that a book can have' : (book as object as BookFields);
}

/** Parses a cell of CSV as a value of a field. An empty one is a missing value, unless the field has any text. */
export function parseCell(field: Field, cell: string): unknown {
  return cellKinds[field.type].parse(cell.trim(), cell, field);
}

interface CellKind {
  /** @returns the value; the text of the cell when it has none of this kind; `undefined` when it is missing */
  readonly parse: (trimmed: string, cell: string, schema: Schema) => unknown;
  /** What a value is, in a reason of rejection. */
  readonly describe: (schema: Schema) => string;
}

/** What CSV has for each kind of field. */
const cellKinds: Readonly<Record<Kind, CellKind>> = {
  string: {
    parse: (trimmed, cell, { enum: allowed }) => (allowed ? trimmed || undefined : cell),
    describe: ({ maxLength }) => (maxLength === undefined ? 'text' : `text of at most ${maxLength} characters`),
  },
  integer: {
    parse: (trimmed) => (isIntegerLiteral(trimmed) ? Number(trimmed) : trimmed || undefined),
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
