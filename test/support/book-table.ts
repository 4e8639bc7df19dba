import { randomUUID } from 'node:crypto';
import { BatchWriteCommand, DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { inParallel } from '../../conformance/in-parallel.ts';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { BookList } from '../../lib/dynamodb/books/book-list.ts';
import { BookRepository } from '../../lib/dynamodb/books/book-repository.ts';
import { createDynamoDBClient } from '../../lib/dynamodb/connection/client.ts';
import { bookKey, counterKey } from '../../lib/dynamodb/table/keys.ts';
import { Table } from '../../lib/dynamodb/table/table.ts';
import { createTable } from '../../serverless/local/engine/prepare-table.ts';
import { aBook } from './a-book.ts';

export const emma = aBook({ title: 'Emma', author: 'Jane Austen', year: 1815 });

/** A table and its endpoint. */
export interface TableAccess {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
}

/** The book table of one test. */
export type BookTable = Awaited<ReturnType<typeof createBookTable>>;

/** Creates an empty book table with a unique name, which begins like this. */
export async function createBookTable(endpoint: string, start = 'books') {
  const tableName = `${start}-${randomUUID()}`;
  const client = connect(endpoint);
  await createTable(client, tableName);
  const books = openBooks({ client, tableName });
  return {
    client,
    tableName,
    /** The DB_URL that names the table. */
    url: `${endpoint}/${tableName}`,
    /** The books without their versions, for tests that are not about these. */
    repository: {
      create: async (fields: BookFields) => (await books.create(fields)).book,
      get: async (id: number) => (await books.get(id)).book,
      update: async (id: number, changes: Partial<BookFields>) => (await books.update(id, changes)).book,
      delete: (id: number) => books.delete(id),
    },
  };
}

/** Opens a document client with the product's own settings; the endpoint may be a proxy. */
export function connect(endpoint: string): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(createDynamoDBClient({ endpoint, region: 'us-east-1', tableName: '' }));
}

/** Opens the books of a table one by one, without verifying it. */
export function openBooks({ client, tableName }: TableAccess): BookRepository {
  return new BookRepository(new Table(client, tableName));
}

/** Opens the list of the books of a table. */
export function openList({ client, tableName }: TableAccess): BookList {
  return new BookList(new Table(client, tableName));
}

/** Sets the last id of the counter; the next book gets the id after it. */
export async function setCounter({ client, tableName }: TableAccess, lastId: number): Promise<void> {
  await client.send(new PutCommand({ TableName: tableName, Item: { ...counterKey, lastId } }));
}

/** Reads the last id of the counter. */
export async function readCounter({ client, tableName }: TableAccess): Promise<number | undefined> {
  const { Item: counter } = await client.send(new GetCommand({ TableName: tableName, Key: counterKey }));
  return counter?.lastId;
}

/** Reads all books with ids above `after`, one after the other. */
export async function* iterateBooks(table: TableAccess, after = 0): AsyncGenerator<Book> {
  for await (const books of openList(table).readAll({ after })) yield* JSON.parse(`[${books}]`);
}

/** Reads all books with ids above `after`. */
export function listBooks(table: TableAccess, after?: number): Promise<Book[]> {
  return Array.fromAsync(iterateBooks(table, after));
}

const batchSize = 25; // the limit of BatchWriteItem

/** Writes books with ids from `firstId` up to an empty table and sets the counter. Much faster than creates. */
export async function seedBooks(
  table: TableAccess,
  count: number,
  fieldsOf: (id: number) => BookFields = makeSeededBook,
  firstId = 1,
): Promise<void> {
  const lastId = firstId + count - 1;
  await inParallel(Math.ceil(count / batchSize), 4, async (batch) => {
    const first = batch * batchSize + firstId;
    const ids = Array.from({ length: Math.min(batchSize, lastId - first + 1) }, (_, index) => first + index);
    const requests = ids.map((id) => ({ PutRequest: { Item: itemOf({ id, ...fieldsOf(id) }) } }));
    await table.client.send(new BatchWriteCommand({ RequestItems: { [table.tableName]: requests } }));
  });
  await setCounter(table, lastId);
}

/** Stores a book under an id, without the counter. @returns its version */
export async function storeBook({ client, tableName }: TableAccess, book: Book): Promise<string> {
  const item = itemOf(book);
  await client.send(new PutCommand({ TableName: tableName, Item: item }));
  return item.version;
}

function itemOf({ id, ...fields }: Book) {
  return { ...bookKey(id), ...fields, version: randomUUID() };
}

/** About 100 bytes as JSON. */
function makeSeededBook(id: number): BookFields {
  const title = `The title of book number ${id}`;
  return aBook({ title, author: `Author "${id % 997}"`, year: 1900 + (id % 120) });
}
