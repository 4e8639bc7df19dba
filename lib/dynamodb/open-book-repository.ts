import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BookList } from './book-list.ts';
import { BookRepository } from './book-repository.ts';
import { createDynamoDBClient } from './client.ts';
import { Table } from './table.ts';
import type { TableLocation } from './table-url.ts';

/**
 * Opens the books one by one, after {@link Table.verify}. A function awaits this while its module loads, so that an
 * instance whose storage is unreachable fails in Lambda's INIT phase and serves nobody.
 */
export async function openBookRepository(location: TableLocation): Promise<BookRepository> {
  return new BookRepository(await connect(location), location.tableName);
}

/** Opens the list of all books, like {@link openBookRepository}. */
export async function openBookList(location: TableLocation): Promise<BookList> {
  return new BookList(await connect(location), location.tableName);
}

async function connect(location: TableLocation): Promise<DynamoDBDocumentClient> {
  const client = DynamoDBDocumentClient.from(createDynamoDBClient(location));
  await new Table(client, location.tableName).verify();
  return client;
}
