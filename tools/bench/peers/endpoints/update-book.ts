import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { answer, bookNotFound, invalidInput } from '../answers.ts';
import type { PeerEndpoint } from '../endpoint.ts';
import { parseFields } from '../fields.ts';
import { readBook } from '../read-book.ts';
import { bookKey, client, parseId, tableName } from '../table.ts';

export const endpoint: PeerEndpoint = {
  method: 'PUT',
  path: '/book/:id',
  async handle({ id: text, body }) {
    const id = parseId(text);
    if (id === undefined) return bookNotFound;
    const changes = parseFields(body);
    const names = Object.keys(changes ?? {});
    if (changes === undefined || names.length === 0) {
      const book = await readBook(id);
      if (book === undefined) return bookNotFound;
      return changes ? answer(200, 'Book updated successfully', book) : invalidInput;
    }
    try {
      const { Attributes: item } = await client.send(
        new UpdateCommand({
          TableName: tableName,
          Key: bookKey(id),
          ConditionExpression: 'attribute_exists(id)',
          UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: Object.fromEntries(
            Object.entries(changes).map(([name, value]) => [`:${name}`, value]),
          ),
          ReturnValues: 'ALL_NEW',
        }),
      );
      const { title, author, year } = item ?? {};
      return answer(200, 'Book updated successfully', { id, title, author, year });
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return bookNotFound;
      throw error;
    }
  },
};
