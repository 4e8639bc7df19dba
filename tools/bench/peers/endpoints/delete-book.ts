import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { answer, bookNotFound } from '../answers.ts';
import type { PeerEndpoint } from '../endpoint.ts';
import { bookKey, client, parseId, tableName } from '../table.ts';

export const endpoint: PeerEndpoint = {
  method: 'DELETE',
  path: '/book/:id',
  async handle({ id: text }) {
    const id = parseId(text);
    if (id === undefined) return bookNotFound;
    try {
      await client.send(
        new DeleteCommand({
          TableName: tableName,
          Key: bookKey(id),
          ConditionExpression: 'attribute_exists(id)',
        }),
      );
      return answer(200, 'Book deleted successfully');
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return bookNotFound;
      throw error;
    }
  },
};
