import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { BookRepository } from '../../lib/dynamodb/book-repository.ts';

/** The repository for tests that are not about versions. */
export interface Books {
  create(fields: BookFields): Promise<Book>;
  get(id: number): Promise<Book>;
  update(id: number, changes: Partial<BookFields>): Promise<Book>;
  delete(id: number): Promise<void>;
}

/**
 * Opens the books of a table.
 *
 * @param client - a document client
 * @param tableName - a book table
 */
export function openBooks(client: DynamoDBDocumentClient, tableName: string): Books {
  const repository = new BookRepository(client, tableName);
  return {
    create: async (fields) => (await repository.create(fields)).book,
    get: async (id) => (await repository.get(id)).book,
    update: async (id, changes) => (await repository.update(id, changes)).book,
    delete: (id) => repository.delete(id),
  };
}
