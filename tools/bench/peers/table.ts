import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

const { origin, pathname } = new URL(process.env.DB_URL ?? '');

export const tableName = pathname.slice(1);

/** As the SDK's documentation makes it. */
export const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: origin }));

const shardWidth = 10_000;

/** @param id - the id of a book */
export const bookKey = (id: number) => ({ shard: Math.floor(id / shardWidth), id });
