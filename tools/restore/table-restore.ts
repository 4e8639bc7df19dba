import { setTimeout as wait } from 'node:timers/promises';
import {
  ContinuousBackupsUnavailableException,
  type DynamoDB,
  ResourceNotFoundException,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { StageError } from '../../serverless/deploy/target.ts';

const pollMs = 5_000;

/** What a restore to a moment adds to the name of the table, so that a repeated command finds its own one. */
export function suffixOf(at: Date): string {
  return `-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

/** @returns the table, or `undefined` when there is none */
export async function findTable(client: DynamoDB, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.describeTable({ TableName })).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** @throws {StageError} unless point-in-time recovery of the table reaches back to the moment */
export async function checkRecoveryWindow(client: DynamoDB, TableName: string, at: Date): Promise<void> {
  const { ContinuousBackupsDescription } = await client.describeContinuousBackups({ TableName });
  const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  if (earliest === undefined || latest === undefined) {
    throw new StageError(`${TableName} has no point-in-time recovery.`);
  }
  if (at >= earliest && at <= latest) return;
  const range = `${earliest.toISOString()} to ${latest.toISOString()}`;
  throw new StageError(`${TableName} can be restored to a moment from ${range}.`);
}

/** Starts a restore, unless its table is there already, and waits until DynamoDB has finished. */
export async function restoreTable(client: DynamoDB, source: string, target: string, at: Date) {
  if (await findTable(client, target)) {
    console.log(`${target} is there already: this continues an earlier run.`);
  } else {
    await client.restoreTableToPointInTime({
      SourceTableName: source,
      TargetTableName: target,
      RestoreDateTime: at,
      BillingModeOverride: 'PAY_PER_REQUEST',
      SSESpecificationOverride: { Enabled: true, SSEType: 'KMS' },
    });
    console.log(`DynamoDB restores ${target}. It takes 20 minutes or more; the same command continues after Ctrl-C.`);
  }
  await waitUntilActive(client, target);
}

async function waitUntilActive(client: DynamoDB, TableName: string): Promise<void> {
  for (;;) {
    const status = (await findTable(client, TableName))?.TableStatus ?? 'CREATING';
    if (status === 'ACTIVE') return;
    if (!['CREATING', 'UPDATING'].includes(status)) {
      throw new StageError(`${TableName} is ${status}. Delete it, and run the command again.`);
    }
    await wait(pollMs);
  }
}

/**
 * Gives a table what a restore leaves out: recovery, time to live, deletion protection, and the tags of another table.
 *
 * @param source - the table with the tags, if it exists
 */
export async function completeTable(
  client: DynamoDB,
  source: TableDescription | undefined,
  TableName: string,
): Promise<void> {
  await turnRecoveryOn(client, TableName);
  const { TimeToLiveDescription } = await client.describeTimeToLive({ TableName });
  if (!/^ENABL/.test(TimeToLiveDescription?.TimeToLiveStatus ?? '')) {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: 'expiresAt' };
    await client.updateTimeToLive({ TableName, TimeToLiveSpecification });
  }
  const { TableArn: ResourceArn, DeletionProtectionEnabled } = (await findTable(client, TableName)) ?? {};
  const { Tags = [] } = source ? await client.listTagsOfResource({ ResourceArn: source.TableArn }) : {};
  // Nobody but AWS may set tags that begin with `aws:`.
  const settable = Tags.filter(({ Key }) => !Key?.startsWith('aws:'));
  if (settable.length > 0) await client.tagResource({ ResourceArn, Tags: settable });
  if (DeletionProtectionEnabled) return;
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
