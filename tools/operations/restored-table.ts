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

/**
 * Looks whether a table has what keeps its books. A stack whose table was restored does not know that table, so drift
 * detection does not see it (docs/operations.md, "Changes by hand").
 *
 * @returns what is off, and the command that turns it on
 */
export async function findUnprotected(client: DynamoDB, TableName: string): Promise<readonly string[]> {
  const [{ Table }, { ContinuousBackupsDescription: backups }, { TimeToLiveDescription: timeToLive }] =
    await Promise.all([
      client.describeTable({ TableName }),
      client.describeContinuousBackups({ TableName }),
      client.describeTimeToLive({ TableName }),
    ]);
  const isOn = {
    'point-in-time recovery': backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED',
    'time to live': timeToLive?.TimeToLiveStatus === 'ENABLED',
    'deletion protection': Table?.DeletionProtectionEnabled === true,
  };
  const commands = {
    'point-in-time recovery':
      'update-continuous-backups --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
    'time to live': 'update-time-to-live --time-to-live-specification Enabled=true,AttributeName=expiresAt',
    'deletion protection': 'update-table --deletion-protection-enabled',
  };
  const names = Object.keys(commands) as (keyof typeof commands)[];
  return names
    .filter((name) => !isOn[name])
    .map((name) => `The table ${TableName} has no ${name}: aws dynamodb ${commands[name]} --table-name ${TableName}`);
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
