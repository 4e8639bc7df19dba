import { setTimeout as wait } from 'node:timers/promises';
import { CloudWatchLogs, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { stackNameOf } from '../../serverless/deploy/stack.ts';

/** CloudWatch Logs has a line some seconds after it was written. */
const delayMs = 10_000;

/** What Lambda and the function loader log when an instance starts ("Lambda telemetry event schema"). */
const filterPattern =
  '{ $.record.metrics.initDurationMs = * || $.record.runtimeVersion = * || $.message = "The code cache is not for*" }';

/** A function and what its instances logged at their starts, each line a JSON object. */
export interface StartLog {
  readonly name: string;
  readonly lines: readonly string[];
}

/** Reads what the functions of a stage have logged at the starts of their instances since a time. */
export async function readStartLogs(
  stage: string,
  names: readonly string[],
  since: Date,
): Promise<StartLog[]> {
  await wait(delayMs);
  const client = new CloudWatchLogs();
  return Promise.all(
    names.map(async (name) => {
      const logGroupName = `/aws/lambda/${stackNameOf(stage)}-${name}`;
      const options = { logGroupName, filterPattern, startTime: since.getTime() };
      const pages = await Array.fromAsync(paginateFilterLogEvents({ client }, options));
      return { name, lines: pages.flatMap(({ events = [] }) => events.map(({ message = '' }) => message)) };
    }),
  );
}

/** Formats for each function its cold starts as AWS measured them, in Markdown. */
export function formatInstanceReport(logs: readonly StartLog[]): string {
  return [
    '## How long do cold starts take, and does Lambda accept the code caches?',
    '',
    'docs/benchmarks.md has what to expect: a code cache shortens a cold start by a fifth.',
    '',
    '| Function | Init, ms | Most memory, MB | Runtime | Code cache, unless accepted or not in the package |',
    '|---|---|---|---|---|',
    ...logs.map(formatFunction),
    '',
  ].join('\n');
}

function formatFunction({ name, lines }: StartLog): string {
  // Lambda logs as text until a function has its JSON format.
  const entries = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const starts = entries.flatMap(({ record }) => (record?.metrics?.initDurationMs ? record.metrics : []));
  const columns = [
    [name],
    starts.map(({ initDurationMs }) => initDurationMs),
    starts.map(({ maxMemoryUsedMB, memorySizeMB }) => `${maxMemoryUsedMB} of ${memorySizeMB}`),
    entries.flatMap(({ record }) => record?.runtimeVersion ?? []),
    entries.flatMap(({ message }) => message ?? []),
  ];
  return `| ${columns.map((values) => [...new Set(values)].join(', ')).join(' | ')} |`;
}
