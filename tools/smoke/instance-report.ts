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
      const lines: string[] = [];
      const pages = paginateFilterLogEvents(
        { client },
        { logGroupName, filterPattern, startTime: since.getTime() },
      );
      for await (const { events = [] } of pages) lines.push(...events.map(({ message = '' }) => message));
      return { name, lines };
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
    '| Function | Cold starts | Init ms, median (least to most) | Most memory, MB | Runtime | Code cache |',
    '|---|--:|--:|--:|---|---|',
    ...logs.map(formatFunction),
    '',
  ].join('\n');
}

function formatFunction({ name, lines }: StartLog): string {
  // Lambda logs as text until a function has its JSON format.
  const entries = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const reports = entries.flatMap(({ record }) => (record?.metrics?.initDurationMs ? [record.metrics] : []));
  const inits: number[] = reports
    .map(({ initDurationMs }) => initDurationMs)
    .sort((one, other) => one - other);
  const runtimes = new Set(entries.flatMap(({ record }) => record?.runtimeVersion ?? []));
  const refusals = new Set(entries.flatMap(({ message }) => message ?? []));
  const init = `${inits[Math.floor(inits.length / 2)]} (${inits[0]} to ${inits.at(-1)})`;
  const memory = Math.max(...reports.map(({ maxMemoryUsedMB }) => maxMemoryUsedMB));
  const columns = [
    name,
    inits.length,
    inits.length === 0 ? '' : init,
    inits.length === 0 ? '' : `${memory} of ${reports[0].memorySizeMB}`,
    [...runtimes].join(', '),
    [...refusals].join(' ') || 'not refused, or not in the package',
  ];
  return `| ${columns.join(' | ')} |`;
}
