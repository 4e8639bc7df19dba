import { type DynamoDBClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { translateDynamoDBError } from './errors.ts';

/**
 * Runs a Query and gives the body of its response (Amazon DynamoDB API Reference, "Query") as it came. The SDK would
 * convert every attribute value twice, which takes several times the processor time of everything else in a list.
 *
 * @param client - a client for the table
 * @param input - the Query
 * @returns JSON, for item-page.ts to read
 * @throws {StorageUnavailableError} when the database gives no usable answer
 */
export async function queryText(client: DynamoDBClient, input: QueryCommandInput): Promise<string> {
  const command = new QueryCommand(input);
  let body = '';
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      // verifyResponses has read it to its end.
      const response = result.response as { statusCode: number; body: Buffer };
      if (response.statusCode < 300) {
        body = response.body.toString();
        response.body = Buffer.from('{}');
      }
      return result;
    },
    // A command's middleware runs, on the way back, before the client's of the same priority (the SDK's deserializer),
    // and after that of a lower one (verifyResponses).
    { name: 'takeResponseBody', step: 'deserialize' },
  );
  try {
    await client.send(command);
  } catch (error) {
    throw translateDynamoDBError(error);
  }
  return body;
}
