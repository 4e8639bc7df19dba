import type { Candidate } from './candidates.ts';
import type { Sample } from './rounds.ts';

const columns = [
  { title: 'Cold first response (ms)', measure: 'coldWallMs', digits: 0 },
  { title: 'Cold CPU (ms)', measure: 'coldCpuMs', digits: 0 },
  { title: 'Warm CPU per call (ms)', measure: 'warmCpuMs', digits: 2 },
  { title: 'Warm call (ms)', measure: 'warmWallMs', digits: 2 },
  { title: 'Peak memory (MB)', measure: 'memoryMb', digits: 0 },
] as const;

/**
 * Makes the table of an endpoint in Markdown: medians, and their ratios to the reference with quartiles. A ratio is taken
 * within a round, so that what slows a whole round down does not count.
 */
export function formatReport(
  endpoint: string,
  candidates: readonly Candidate[],
  reference: string,
  samples: readonly Sample[],
): string {
  const samplesOf = (name: string) => samples.filter(({ candidate }) => candidate === name);
  const rows = candidates.map(({ name, bytes }) => [
    name,
    Math.round(bytes / 1000),
    ...columns.map(({ measure, digits }) => {
      const references = new Map(samplesOf(reference).map((sample) => [sample.round, sample[measure]]));
      const values = samplesOf(name).map((sample) => sample[measure]);
      const ratios = samplesOf(name).map((sample) => sample[measure] / (references.get(sample.round) ?? Number.NaN));
      const [ratio, lower, upper] = [0.5, 0.25, 0.75].map((share) => quantile(ratios, share).toFixed(2));
      return `${quantile(values, 0.5).toFixed(digits)} · **${ratio}** (${lower}–${upper})`;
    }),
  ]);
  const head = ['', 'Bundle (KB)', ...columns.map(({ title }) => title)];
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows];
  return `### ${endpoint}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

/** The nearest value, without interpolation. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? Number.NaN;
}
