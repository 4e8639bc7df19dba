import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { ListResult } from './lists.ts';
import { type EndpointResult, type Measure, summarize } from './statistics.ts';

/** Prints the tables, and writes them with the figures into a folder. */
export async function writeReport(
  folder: string,
  measured: readonly EndpointResult[],
  lists: readonly ListResult[],
): Promise<void> {
  const sections = [`${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`];
  sections.push(...measured.map(formatEndpoint));
  if (lists.length > 0) sections.push(`### The whole list\n\n${formatLists(lists)}`);
  const text = `${sections.join('\n\n')}\n`;
  process.stdout.write(text);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'tables.md'), text);
  await writeFile(join(folder, 'results.json'), JSON.stringify({ measured, lists }, null, 1));
}

function formatEndpoint({ endpoint, candidates }: EndpointResult): string {
  const rows = candidates.map(({ name, bytes, coldWallMs, coldCpuMs, warmCpuMs, warmWallMs, memoryMb }) => [
    name,
    Math.round(bytes / 1000),
    withRatio(coldWallMs, 0),
    withRatio(coldCpuMs, 0),
    withRatio(warmCpuMs, 2),
    warmWallMs.median.toFixed(2),
    memoryMb.median.toFixed(0),
  ]);
  const times = ['Cold first response (ms)', 'Cold CPU (ms)', 'Warm CPU per call (ms)', 'Warm call (ms)'];
  return `### ${endpoint}\n\n${table(['', 'Bundle (KB)', ...times, 'Peak memory (MB)'], rows)}`;
}

function formatLists(results: readonly ListResult[]): string {
  const groups = Map.groupBy(results, ({ bookCount, variant }) => `${bookCount} ${variant}`);
  const rows = [...groups.values()].map((group) => {
    const median = (name: 'firstByteMs' | 'totalMs' | 'cpuMs' | 'peakMemoryMb') =>
      summarize(group.map((result) => result[name])).median.toFixed(0);
    const [first] = group;
    return [
      first?.bookCount.toLocaleString('en') ?? '',
      first?.variant ?? '',
      first?.failure ?? median('firstByteMs'),
      median('totalMs'),
      median('cpuMs'),
      median('peakMemoryMb'),
      first?.failure ? '–' : ((first?.bodyBytes ?? 0) / 1e6).toFixed(2),
    ];
  });
  const times = ['First byte (ms)', 'Whole response (ms)', 'CPU (ms)'];
  return table(['Books', 'Handler', ...times, 'Peak memory (MB)', 'Body (MB)'], rows);
}

/** A table in Markdown. */
function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** The median, and the ratio to the reference with its quartiles. */
function withRatio({ median, ratio }: Measure, digits: number): string {
  const spread = `${ratio.lower.toFixed(2)}–${ratio.upper.toFixed(2)}`;
  return `${median.toFixed(digits)} · **${ratio.median.toFixed(2)}** (${spread})`;
}
