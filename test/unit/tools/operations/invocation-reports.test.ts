import { CloudWatchLogsClient, type FilterLogEventsCommandInput } from '@aws-sdk/client-cloudwatch-logs';
import { expect, test, vi } from 'vitest';
import { describeInvocations } from '../../../../tools/operations/invocation-reports.ts';

test('a smoke test on a stage with hundreds of thousands of invocations says what they took', async () => {
  const report = (durationMs: number) => ({
    message: JSON.stringify({ record: { metrics: { durationMs, maxMemoryUsedMB: 100 + durationMs } } }),
  });
  const events = Array.from({ length: 200_000 }, (_, index) => report(1 + (index % 3)));
  const send = async ({ input }: { readonly input: FilterLogEventsCommandInput }) => ({
    events: input.logGroupName === '/aws/lambda/book-catalog-prod-getBook' ? events : [],
  });
  vi.spyOn(CloudWatchLogsClient.prototype, 'send').mockImplementation(send as never);

  const lines = await describeInvocations('prod', 0);

  expect(lines.find((line) => line.startsWith('getBook'))).toMatch(/^getBook +0 +- +200000 +2 +\d+ +103$/);
});
