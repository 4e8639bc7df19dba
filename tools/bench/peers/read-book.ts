import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { bookKey, client, tableName } from './table.ts';

/**
 * @param id - the id of a book
 * @returns the book, or `undefined` when there is none
 */
export async function readBook(id: number) {
  const { Item: item } = await client.send(
    new GetCommand({ TableName: tableName, Key: bookKey(id), ConsistentRead: true }),
  );
  return item && { id: item.id, title: item.title, author: item.author, year: item.year };
}
