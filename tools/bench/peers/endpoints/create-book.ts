import { randomBytes } from 'node:crypto';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { answer, invalidInput } from '../answers.ts';
import type { PeerEndpoint } from '../endpoint.ts';
import { parseFields } from '../fields.ts';
import { bookKey, client, tableName } from '../table.ts';

export const endpoint: PeerEndpoint = {
  method: 'POST',
  path: '/book',
  async handle({ body }) {
    const fields = parseFields(body);
    if (fields === undefined) return invalidInput;
    const { Attributes: counter } = await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key: { shard: -1, id: 0 },
        UpdateExpression: 'ADD lastId :one',
        ExpressionAttributeValues: { ':one': 1 },
        ReturnValues: 'UPDATED_NEW',
      }),
    );
    const id = counter?.lastId;
    const book = { title: '', author: '', year: 0, ...fields };
    const writeToken = randomBytes(9).toString('base64url');
    await client.send(
      new PutCommand({
        TableName: tableName,
        Item: { ...bookKey(id), ...book, writeToken },
        ConditionExpression: 'attribute_not_exists(id) OR writeToken = :writeToken',
        ExpressionAttributeValues: { ':writeToken': writeToken },
      }),
    );
    return answer(201, 'Book created successfully', { id, ...book });
  },
};
