import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { CodingResult } from './content-codings.ts';
import type { InstructionCount } from './instructions.ts';
import type { ListResult } from './lists.ts';
import type { SweepResult } from './memory-sweep.ts';
import { drawBars, drawLines, type Line } from './plots.ts';
import type { EndpointResult } from './results.ts';
import { formatCodings, formatCosts, formatEndpoint, formatInstructions, formatLists } from './tables.ts';

/** All that a run measured. */
export interface Results {
  readonly measured: readonly EndpointResult[];
  readonly sweep: readonly SweepResult[];
  readonly lists: readonly ListResult[];
  readonly codings: readonly CodingResult[];
  readonly instructions: readonly InstructionCount[];
}

const barPlots = [
  { file: 'cold.svg', title: 'cold first response', measure: 'coldWallMs' },
  { file: 'cold-cpu.svg', title: 'CPU time of a cold first response', measure: 'coldCpuMs' },
  { file: 'warm.svg', title: 'CPU time of a warm call', measure: 'warmCpuMs' },
] as const;

/**
 * Writes the tables to standard output and to `tables.md`, and the plots beside it.
 *
 * @param folder - where to
 * @param results - what was measured
 */
export async function writeReport(
  folder: string,
  { measured, sweep, lists, codings, instructions }: Results,
): Promise<void> {
  const sections = [`${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`];
  sections.push(...measured.map(formatEndpoint));
  if (sweep.length > 0) sections.push(`### Cost\n\n${formatCosts(sweep)}`);
  if (lists.length > 0) sections.push(`### The whole list\n\n${formatLists(lists)}`);
  if (codings.length > 0) {
    sections.push(`### Content codings of a list of 100,000 books\n\n${formatCodings(codings)}`);
  }
  if (instructions.length > 0) sections.push(`### Instructions\n\n${formatInstructions(instructions)}`);
  const text = `${sections.join('\n\n')}\n`;
  process.stdout.write(text);
  await writeFile(join(folder, 'tables.md'), text);

  const [first] = measured;
  if (first) {
    for (const { file, title, measure } of barPlots) {
      const bars = first.candidates.map((candidate) => ({
        label: candidate.name,
        ...candidate[measure].ratio,
      }));
      await writeFile(join(folder, file), drawBars(`${first.route}: ${title}, ratio to bare`, bars));
    }
  }
  if (lists.length > 0) {
    const cpu = drawLines('The whole list: CPU time (ms) over books', linesOf(lists, 'cpuMs'));
    const memory = drawLines('The whole list: peak memory (MB) over books', linesOf(lists, 'peakMemoryMb'));
    await writeFile(join(folder, 'list-cpu.svg'), cpu);
    await writeFile(join(folder, 'list-memory.svg'), memory);
  }
}

function linesOf(lists: readonly ListResult[], value: 'cpuMs' | 'peakMemoryMb'): Line[] {
  return [...Map.groupBy(lists, ({ variant }) => variant)].map(([label, results]) => ({
    label,
    points: [...Map.groupBy(results, ({ bookCount }) => bookCount)].map(([x, group]) => ({
      x,
      y: group.map((result) => result[value]).toSorted((a, b) => a - b)[Math.floor(group.length / 2)] ?? 1,
    })),
  }));
}
