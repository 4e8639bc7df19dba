import { BatchWriteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Book, BookFields } from '../../lib/books/book.ts';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { setCounter, type TableAccess } from './book-table.ts';

/** What BatchWriteItem takes at most. */
const batchSize = 25;

/** Batches that are written at the same time. */
const batchesAtOnce = 4;

/**
 * Writes books with ids from 1 up and sets the counter accordingly. Much faster than creating them one by one.
 *
 * @param table - an empty table
 * @param count - how many
 * @param fieldsOf - the book with an id; about 100 bytes as JSON by default
 */
export async function seedBooks(
  table: TableAccess,
  count: number,
  fieldsOf: (id: number) => BookFields = seededBook,
): Promise<void> {
  let next = 1;
  const work = async () => {
    while (next <= count) {
      const first = next;
      next += batchSize;
      const ids = Array.from({ length: Math.min(batchSize, count - first + 1) }, (_, index) => first + index);
      const requests = ids.map((id) => ({
        PutRequest: { Item: { ...bookKey(id), ...fieldsOf(id), writeToken: 'seeded-token' } },
      }));
      await table.client.send(new BatchWriteCommand({ RequestItems: { [table.tableName]: requests } }));
    }
  };
  await Promise.all(Array.from({ length: batchesAtOnce }, work));
  await setCounter(table, count);
}

/**
 * Stores a book under an id, whatever the counter says.
 *
 * @param table - the table
 * @param book - the book
 */
export async function storeBook({ client, tableName }: TableAccess, { id, ...fields }: Book): Promise<void> {
  const Item = { ...bookKey(id), ...fields, writeToken: 'seeded-token' };
  await client.send(new PutCommand({ TableName: tableName, Item }));
}

function seededBook(id: number): BookFields {
  return { title: `The title of book number ${id}`, author: `Author "${id % 997}"`, year: 1900 + (id % 120) };
}
