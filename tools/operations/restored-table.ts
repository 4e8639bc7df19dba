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

/**
 * Gives a table what a restore leaves out, when the restore has ended: recovery, time to live, deletion protection, tags.
 *
 * @param Tags - those of the stack, which CloudFormation gave to the table before
 */
export async function completeTable(client: DynamoDB, TableName: string, Tags: readonly Tag[]): Promise<void> {
  const waitUntilActive = () =>
    waitUntilTableExists({ client, minDelay: 2, maxDelay: 20, maxWaitTime: maxRestoreSeconds }, { TableName });
  await waitUntilActive();
  await turnRecoveryOn(client, TableName);
  const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName });
  if (!/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '')) {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: 'expiresAt' };
    await client.updateTimeToLive({ TableName, TimeToLiveSpecification });
  }
  await client.updateTable({ TableName, DeletionProtectionEnabled: true });
  await waitUntilActive();
  const { Table } = await client.describeTable({ TableName });
  await client.tagResource({ ResourceArn: Table?.TableArn, Tags: [...Tags] });
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
