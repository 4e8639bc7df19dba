import { setTimeout as wait } from 'node:timers/promises';
import {
  ContinuousBackupsUnavailableException,
  type DynamoDB,
  ResourceNotFoundException,
  type Tag,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

const pollMs = 5_000;

/** A restore takes 20 minutes or more. */
const maxRestoreSeconds = 24 * 3_600;

export async function tableExists(client: DynamoDB, TableName: string): Promise<boolean> {
  try {
    await client.describeTable({ TableName });
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return false;
    throw error;
  }
}

/** Waits for the end of a restore, and of a change of the table. */
export async function waitUntilActive(client: DynamoDB, TableName: string): Promise<void> {
  await waitUntilTableExists({ client, minDelay: 2, maxDelay: 20, maxWaitTime: maxRestoreSeconds }, { TableName });
}

/** Whether a table has the last thing that {@link completeTable} gives it. */
export async function isComplete(client: DynamoDB, TableName: string): Promise<boolean> {
  const { Table } = await client.describeTable({ TableName });
  return Table?.DeletionProtectionEnabled === true;
}

/**
 * Gives an active table what a restore leaves out: recovery, time to live, tags, and at last deletion protection.
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
