import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { BookRepository } from './book-repository.ts';
import { createDynamoDBClient } from './dynamodb-client.ts';
import { verifyTable } from './table.ts';
import type { TableLocation } from './table-url.ts';

/**
 * Opens the books for a function instance, after a check that their table is there. A function awaits this while its
 * module loads, so that an instance whose storage is unreachable fails in Lambda's INIT phase and serves nobody.
 *
 * @param location - where the table is
 * @returns the books
 * @throws what {@link verifyTable} throws
 */
export async function openBookRepository(location: TableLocation): Promise<BookRepository> {
  const client = DynamoDBDocumentClient.from(createDynamoDBClient(location));
  await verifyTable(client, location.tableName);
  return new BookRepository(client, location.tableName);
}
