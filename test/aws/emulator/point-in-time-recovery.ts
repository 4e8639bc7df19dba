import { DynamoDB, type RestoreTableToPointInTimeInput } from '@aws-sdk/client-dynamodb';
import type { Fate } from '../../simulators/faulty-gateway.ts';

/** How often a restored table is described as being created. */
const pollsUntilActive = 2;

/**
 * Point-in-time recovery in front of the emulator, which restores every moment with the items of now. It restores the items
 * that a table had when `remember` was last called before the moment, and takes its time like AWS.
 */
export function simulatePointInTimeRecovery(emulatorUrl: string) {
  const moments: { readonly at: number; readonly BackupArn: string | undefined }[] = [];
  /** Restored tables whose recovery cannot be turned on yet; for one attempt. */
  const unavailable = new Set<string>();
  const pollsLeft = new Map<string, number>();
  const client = new DynamoDB({ endpoint: emulatorUrl });
  let whenRestoring = () => {};

  async function restore(input: Omit<RestoreTableToPointInTimeInput, 'RestoreDateTime'> & { RestoreDateTime: number }) {
    const { TargetTableName = '', RestoreDateTime, BillingModeOverride } = input;
    const BackupArn = moments.findLast(({ at }) => at <= RestoreDateTime * 1000)?.BackupArn;
    const backup = { TargetTableName, BackupArn, BillingModeOverride };
    const { TableDescription } = await client.restoreTableFromBackup(backup);
    pollsLeft.set(TargetTableName, pollsUntilActive);
    unavailable.add(TargetTableName);
    whenRestoring();
    const body = { TableDescription: { ...TableDescription, TableStatus: 'CREATING' } };
    return { status: 200, body: JSON.stringify(body) };
  }

  return {
    /** Keeps the items that a table has now. AWS does so for each second. The emulator's CloudFormation does not turn it on. */
    async remember(TableName: string): Promise<void> {
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
      await client.updateContinuousBackups({ TableName, PointInTimeRecoverySpecification });
      const { BackupDetails } = await client.createBackup({ TableName, BackupName: 'moment' });
      moments.push({ at: Date.now(), BackupArn: BackupDetails?.BackupArn });
    },
    /** Calls a function at the beginning of the next restore. */
    onRestore(listener: () => void): void {
      whenRestoring = listener;
    },
    /** Decides a request to DynamoDB by the header `X-Amz-Target`. */
    async decide(operation: string, body: Buffer): Promise<Fate> {
      const input = JSON.parse(body.toString());
      if (operation.endsWith('.RestoreTableToPointInTime')) return restore(input);
      if (operation.endsWith('.DescribeContinuousBackups')) {
        const earliest = (moments[0]?.at ?? Date.now()) / 1000;
        return (text) =>
          text.replace(/("EarliestRestorableDateTime": ?)[\d.]+/, (_, name: string) => `${name}${earliest}`);
      }
      if (operation.endsWith('.UpdateContinuousBackups') && unavailable.delete(input.TableName)) {
        const __type = 'com.amazonaws.dynamodb.v20120810#ContinuousBackupsUnavailableException';
        return { status: 400, body: JSON.stringify({ __type, message: 'Backups are being enabled' }) };
      }
      const left = operation.endsWith('.DescribeTable') ? (pollsLeft.get(input.TableName) ?? 0) : 0;
      if (left === 0) return 'pass';
      pollsLeft.set(input.TableName, left - 1);
      return (text) => text.replace(/("TableStatus": ?)"ACTIVE"/, '$1"CREATING"');
    },
  };
}
