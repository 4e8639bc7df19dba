import { setTimeout as wait } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  ContinuousBackupsUnavailableException,
  type DynamoDB,
  ResourceNotFoundException,
  type Tag,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { counterKey } from '../../lib/dynamodb/table/keys.ts';

const pollMs = 5_000;

/** A restore takes 20 minutes or more. */
const maxRestoreSeconds = 24 * 3_600;

const Key = Object.fromEntries(Object.entries(counterKey).map(([name, value]) => [name, { N: String(value) }]));

/**
 * Waits for the end of a restore, and of a change of the table.
 *
 * @throws {ResourceNotFoundException} when there is no such table
 */
export async function waitUntilActive(client: DynamoDB, TableName: string): Promise<void> {
  await client.describeTable({ TableName }); // the waiter would wait for a table that does not exist
  await waitUntilTableExists({ client, minDelay: 2, maxDelay: 20, maxWaitTime: maxRestoreSeconds }, { TableName });
}

/**
 * Gives an active table what a restore leaves out: recovery, time to live, tags, and deletion protection.
 *
 * @param Tags - those of the stack, which CloudFormation gave to the table before
 */
export async function completeTable(client: DynamoDB, TableName: string, Tags: readonly Tag[]): Promise<void> {
  await turnRecoveryOn(client, TableName);
  const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName });
  if (!/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '')) {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: 'expiresAt' };
    await client.updateTimeToLive({ TableName, TimeToLiveSpecification });
  }
  const { Table } = await client.describeTable({ TableName });
  await client.tagResource({ ResourceArn: Table?.TableArn, Tags: [...Tags] });
  await client.updateTable({ TableName, DeletionProtectionEnabled: true });
  await waitUntilActive(client, TableName);
}

/** DynamoDB refuses it for some minutes after a table has become active. */
async function turnRecoveryOn(client: DynamoDB, TableName: string): Promise<void> {
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  for (;;) {
    try {
      await client.updateContinuousBackups({ TableName, PointInTimeRecoverySpecification });
      return;
    } catch (error) {
      if (!(error instanceof ContinuousBackupsUnavailableException)) throw error;
      await wait(pollMs);
    }
  }
}

/** @returns the last id that was drawn; `undefined` without a table, or without a number in its counter */
export async function readCounter(client: DynamoDB, TableName: string): Promise<number | undefined> {
  try {
    const { Item } = await client.getItem({ TableName, Key, ConsistentRead: true });
    return Item?.lastId?.N === undefined ? undefined : Number(Item.lastId.N);
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** Raises the counter of a table, unless it is above `lastId`. */
export async function raiseCounter(client: DynamoDB, TableName: string, lastId: number): Promise<void> {
  try {
    await client.updateItem({
      TableName,
      Key,
      UpdateExpression: 'SET lastId = :lastId',
      ConditionExpression: 'attribute_not_exists(lastId) OR lastId < :lastId',
      ExpressionAttributeValues: { ':lastId': { N: String(lastId) } },
    });
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
