import type { CodingResult } from './content-codings.ts';
import type { InstructionCount } from './instructions.ts';
import type { ListResult } from './lists.ts';
import type { SweepResult } from './memory-sweep.ts';
import { type EndpointResult, type Measure, reference } from './results.ts';
import { summarize } from './statistics.ts';

/**
 * @param result - one endpoint
 * @returns its table in Markdown
 */
export function formatEndpoint({ route, candidates }: EndpointResult): string {
  const rows = candidates.map(
    ({ name, bytes, coldWallMs, coldCpuMs, warmCpuMs, warmWallMs, warmMemoryMb }) =>
      `| ${name} | ${Math.round(bytes / 1000)} | ${withRatio(coldWallMs, 0)} | ${withRatio(coldCpuMs, 0)} | ` +
      `${withRatio(warmCpuMs, 2)} | ${warmWallMs.median.toFixed(2)} | ${warmMemoryMb.median.toFixed(0)} |`,
  );
  return [
    `### ${route}`,
    '',
    '| | Bundle (KB) | Cold first response (ms) | Cold CPU (ms) | Warm CPU per call (ms) | Warm call (ms) | Peak memory (MB) |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}

/**
 * @param results - lists of all sizes
 * @returns their table in Markdown
 */
export function formatLists(results: readonly ListResult[]): string {
  const groups = Map.groupBy(results, ({ bookCount, variant }) => `${bookCount} ${variant}`);
  const rows = [...groups.values()].map((group) => {
    const [first] = group;
    const median = (value: (result: ListResult) => number) => summarize(group.map(value)).median;
    const failure = first?.failure;
    const bytes = median(({ bodyBytes }) => bodyBytes);
    return (
      `| ${first?.bookCount.toLocaleString('en')} | ${first?.variant} | ` +
      `${failure ? failure : median(({ firstByteMs }) => firstByteMs).toFixed(0)} | ` +
      `${median(({ totalMs }) => totalMs).toFixed(0)} | ${median(({ cpuMs }) => cpuMs).toFixed(0)} | ` +
      `${median(({ peakMemoryMb }) => peakMemoryMb).toFixed(0)} | ${failure ? '–' : (bytes / 1e6).toFixed(2)} |`
    );
  });
  return [
    '| Books | Handler | First byte (ms) | Whole answer (ms) | CPU (ms) | Peak memory (MB) | Body (MB) |',
    '|--:|---|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}

/**
 * @param results - content codings at several levels
 * @returns what they take and give, in Markdown
 */
export function formatCodings(results: readonly CodingResult[]): string {
  const rows = results.map(
    ({ coding, level, cpuMs, bytes }) =>
      `| ${coding} | ${level} | ${cpuMs.toFixed(0)} | ${(bytes / 1e6).toFixed(2)} |`,
  );
  return ['| Coding | Level | CPU (ms) | Body (MB) |', '|---|--:|--:|--:|', ...rows].join('\n');
}

/**
 * @param counts - instructions of several candidates
 * @returns their table in Markdown, in millions and as ratios to bare's
 */
export function formatInstructions(counts: readonly InstructionCount[]): string {
  const rows = counts.map(({ route, candidate, cold, call }) => {
    const bare = counts.find((other) => other.route === route && other.candidate === reference);
    const cell = (count: number, ofBare = Number.NaN) =>
      `${(count / 1e6).toFixed(2)} · **${(count / ofBare).toFixed(2)}**`;
    return `| ${route} | ${candidate} | ${cell(cold, bare?.cold)} | ${cell(call, bare?.call)} |`;
  });
  return [
    '| | | Until the first response (millions) | Of a call after 100 to 200 (millions) |',
    '|---|---|--:|--:|',
    ...rows,
  ].join('\n');
}

/** The median, and the ratio to bare with its quartiles. */
function withRatio({ median, ratio }: Measure, digits: number): string {
  const spread = `${ratio.lower.toFixed(2)}–${ratio.upper.toFixed(2)}`;
  return `${median.toFixed(digits)} · **${ratio.median.toFixed(2)}** (${spread})`;
}

/**
 * @param sweep - what was measured with several memory sizes
 * @returns the cost of a million calls, in Markdown
 */
export function formatCosts(sweep: readonly SweepResult[]): string {
  const rows = sweep.map(
    ({ route, memoryMb, coldMs, warmMs, cost }) =>
      `| ${route} | ${memoryMb} | ${coldMs.toFixed(0)} | ${warmMs.toFixed(1)} | ${cost.lambda.toFixed(2)} | ` +
      `${cost.dynamoDb.toFixed(2)} | ${cost.apiGateway.toFixed(2)} | ${cost.total.toFixed(2)} |`,
  );
  return [
    '| | Memory (MB) | First call with INIT (ms) | Warm call (ms) | Lambda ($) | DynamoDB ($) | API Gateway ($) | Million calls ($) |',
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}
