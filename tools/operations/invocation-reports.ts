import { CloudWatchLogs, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { stackNameOf } from '../../serverless/deploy/stack.ts';
import { endpointNames } from '../../serverless/functions.ts';

/** The milliseconds of a warm call in docs/operations.md, "Costs", of each function that was measured. */
export const measuredMs = {
  createToken: 1,
  createBook: 14,
  listBooks: 13,
  getBook: 7,
  updateBook: 8,
  deleteBook: 8,
} as const;

/** What Lambda writes into the log of a function after each invocation, as far as it is used here. */
interface InvocationReport {
  readonly durationMs: number;
  /** Only of an invocation that started an instance. */
  readonly initDurationMs?: number;
  readonly maxMemoryUsedMB: number;
}

const columns = ['Function', 'Cold starts', 'INIT ms', 'Calls', 'ms', 'measured ms', 'most MB'];

/** Describes the invocations of a stage since a moment, a line for each function: medians, and the most memory. */
export async function describeInvocations(stage: string, startTime: number): Promise<readonly string[]> {
  const client = new CloudWatchLogs();
  const rows: unknown[][] = [columns];
  const measured: Readonly<Record<string, number>> = measuredMs;
  for (const name of endpointNames) {
    const reports: InvocationReport[] = [];
    const logGroupName = `/aws/lambda/${stackNameOf(stage)}-${name}`;
    const query = { logGroupName, startTime, filterPattern: '"platform.report"' };
    for await (const { events = [] } of paginateFilterLogEvents({ client }, query)) {
      for (const { message = '' } of events) reports.push(JSON.parse(message).record.metrics);
    }
    const initMs = reports.flatMap(({ initDurationMs = [] }) => initDurationMs);
    const ms = median(reports.map(({ durationMs }) => durationMs));
    const mostMemory = reports.reduce((most, { maxMemoryUsedMB }) => Math.max(most, maxMemoryUsedMB), 0);
    rows.push([name, initMs.length, median(initMs), reports.length, ms, measured[name] ?? '-', mostMemory]);
  }
  return rows.map((cells) =>
    cells
      .map((cell) => String(cell).padEnd(12))
      .join('')
      .trim(),
  );
}

function median(values: readonly number[]): number | string {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? '-';
}
