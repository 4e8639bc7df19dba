import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { findUnprotected } from '../../../../tools/operations/restored-table.ts';

const on = { recovery: 'ENABLED', timeToLive: 'ENABLED', protection: true };
const command = (options: string) => `aws dynamodb ${options} --table-name books`;

/** Plays DynamoDB for a table. */
function describedAs({ recovery, timeToLive, protection }: typeof on): DynamoDB {
  const backups = { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: recovery } };
  return {
    describeTable: async () => ({ Table: { DeletionProtectionEnabled: protection } }),
    describeContinuousBackups: async () => ({ ContinuousBackupsDescription: backups }),
    describeTimeToLive: async () => ({ TimeToLiveDescription: { TimeToLiveStatus: timeToLive } }),
  } as unknown as DynamoDB;
}

test('of a table that keeps its books, the smoke test says nothing', async () => {
  expect(await findUnprotected(describedAs(on), 'books')).toEqual([]);
});

test.each([
  [
    { recovery: 'DISABLED' },
    'point-in-time recovery',
    'update-continuous-backups --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
  ],
  [
    { timeToLive: 'DISABLED' },
    'time to live',
    'update-time-to-live --time-to-live-specification Enabled=true,AttributeName=expiresAt',
  ],
  [{ protection: false }, 'deletion protection', 'update-table --deletion-protection-enabled'],
])(
  'of a table with %j, the smoke test says what is off, and the command that turns it on',
  async (off, name, options) => {
    const lines = await findUnprotected(describedAs({ ...on, ...off }), 'books');

    expect(lines).toEqual([`The table books has no ${name}: ${command(options)}`]);
  },
);
