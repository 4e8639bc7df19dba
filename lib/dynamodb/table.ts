import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { translateDynamoDBError } from './errors.ts';
import { counterKey } from './keys.ts';

/** The table is missing. */
export class TableNotFoundError extends Error {
  override readonly name = 'TableNotFoundError';

  constructor(tableName: string, options?: ErrorOptions) {
    super(`the table "${tableName}" does not exist`, options);
  }
}

/** A table of that name exists, with another primary key than ours. */
export class KeySchemaError extends Error {
  override readonly name = 'KeySchemaError';

  constructor(tableName: string, options?: ErrorOptions) {
    super(
      `the table "${tableName}" is not a book table: its primary key has to be the numbers "shard" (partition key) and ` +
        '"id" (sort key)',
      options,
    );
  }
}

/**
 * Checks that the table is there and has our key schema by a strongly consistent read of the counter item. Unlike
 * DescribeTable that is a data-plane call, which takes no permission that the functions lack and has no low quota
 * for the account, and it leaves an open connection behind.
 *
 * @param client - a document client
 * @param tableName - the table
 * @throws {TableNotFoundError} when there is no such table
 * @throws {KeySchemaError} when its primary key is another
 * @throws {StorageUnavailableError} when the database cannot be asked
 */
export async function verifyTable(client: DynamoDBDocumentClient, tableName: string): Promise<void> {
  try {
    await client.send(new GetCommand({ TableName: tableName, Key: counterKey, ConsistentRead: true }));
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ResourceNotFoundException') throw new TableNotFoundError(tableName, { cause: error });
    if (name === 'ValidationException') throw new KeySchemaError(tableName, { cause: error });
    throw translateDynamoDBError(error);
  }
}
