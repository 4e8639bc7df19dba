import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Book } from '../../lib/books/book.ts';
import { BookList } from '../../lib/books/book-list.ts';
import { BookRepository } from '../../lib/books/book-repository.ts';
import { createDynamoDBClient } from '../../lib/books/dynamodb-client.ts';
import { counterKey } from '../../lib/books/keys.ts';
import { createTable } from '../../local/create-table.ts';

/** A table as it is reached by a client. */
export interface TableAccess {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/** A book table of one test's own. */
export interface BookTable extends TableAccess {
  /** The DB_URL that names the table. */
  readonly url: string;
  readonly repository: BookRepository;
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
    repository: new BookRepository(client, tableName),
    client,
  };
}

/**
 * Opens a client with the product's own settings.
 *
 * @param endpoint - the origin of an engine, or of something in front of it
 */
export function connect(endpoint: string): DynamoDBClient {
  return createDynamoDBClient({ endpoint, region: 'us-east-1', tableName: '' });
}

/**
 * Makes the client that takes items as plain objects, which the product does without.
 *
 * @param table - the table
 */
export function documentClient({ client }: TableAccess): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client);
}

/**
 * Sets the last id that was drawn, which spares a test the creation of thousands of books.
 *
 * @param table - the table
 * @param lastId - the next book gets the id after this one
 */
export async function setCounter(table: TableAccess, lastId: number): Promise<void> {
  const Item = { ...counterKey, lastId };
  await documentClient(table).send(new PutCommand({ TableName: table.tableName, Item }));
}

/**
 * Reads the last id that was drawn.
 *
 * @param table - the table
 */
export async function readCounter(table: TableAccess): Promise<number | undefined> {
  const { Item: counter } = await documentClient(table).send(
    new GetCommand({ TableName: table.tableName, Key: counterKey }),
  );
  return counter?.lastId;
}

/**
 * Reads all books one after the other. The one place in the tests that knows how a list is read.
 *
 * @param table - the table
 */
export async function* iterateBooks({ client, tableName }: TableAccess): AsyncGenerator<Book> {
  const list = new BookList(client, tableName);
  for await (const books of list.readAll()) yield* books;
}

/**
 * Reads all books.
 *
 * @param table - the table
 */
export function listBooks(table: TableAccess): Promise<Book[]> {
  return Array.fromAsync(iterateBooks(table));
}
