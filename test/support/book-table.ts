import { randomUUID } from 'node:crypto';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Book } from '../../lib/books/book.ts';
import { BookList } from '../../lib/dynamodb/book-list.ts';
import { createDynamoDBClient } from '../../lib/dynamodb/client.ts';
import { counterKey } from '../../lib/dynamodb/keys.ts';
import { createTable } from '../../serverless/local/create-table.ts';
import { type Books, openBooks } from './books.ts';

/** A table as it is reached by a client. */
export interface TableAccess {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
}

/** A book table of one test's own. */
export interface BookTable extends TableAccess {
  /** The DB_URL that names the table. */
  readonly url: string;
  readonly repository: Books;
}

/**
 * Creates an empty book table with a name that no other test has.
 *
 * @param endpoint - the engine's origin
 */
export async function createBookTable(endpoint: string): Promise<BookTable> {
  const tableName = `books-${randomUUID()}`;
  const client = connect(endpoint);
  await createTable(client, tableName);
  return {
    tableName,
    url: `${endpoint}/${tableName}`,
    repository: openBooks(client, tableName),
    client,
  };
}

/**
 * Opens a document client with the product's own settings.
 *
 * @param endpoint - the origin of an engine, or of something in front of it
 */
export function connect(endpoint: string): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(createDynamoDBClient({ endpoint, region: 'us-east-1', tableName: '' }));
}

/**
 * Sets the last id that was drawn, which spares a test the creation of thousands of books.
 *
 * @param table - the table
 * @param lastId - the next book gets the id after this one
 */
export async function setCounter({ client, tableName }: TableAccess, lastId: number): Promise<void> {
  await client.send(new PutCommand({ TableName: tableName, Item: { ...counterKey, lastId } }));
}

/**
 * Reads the last id that was drawn.
 *
 * @param table - the table
 */
export async function readCounter({ client, tableName }: TableAccess): Promise<number | undefined> {
  const { Item: counter } = await client.send(new GetCommand({ TableName: tableName, Key: counterKey }));
  return counter?.lastId;
}

/**
 * Reads all books one after the other. The one place in the tests that knows how a list is read.
 *
 * @param table - the table
 */
export async function* iterateBooks({ client, tableName }: TableAccess): AsyncGenerator<Book> {
  const list = new BookList(client, tableName);
  for await (const books of list.readAll()) yield* JSON.parse(`[${books}]`);
}

/**
 * Reads all books.
 *
 * @param table - the table
 */
export function listBooks(table: TableAccess): Promise<Book[]> {
  return Array.fromAsync(iterateBooks(table));
}
