import type { Sample } from './rounds.ts';

/** A median with the quartiles around it. */
export type Summary = Readonly<Record<'median' | 'lower' | 'upper', number>>;

/** A measure of a candidate, and its ratio to the reference's in the same round. */
export type Measure = Summary & { readonly ratio: Summary };

/** The measures of one endpoint, ours first. Times in milliseconds, memory in MB. */
export interface EndpointResult {
  readonly endpoint: string;
  readonly candidates: readonly ReturnType<typeof summarizeCandidate>[];
}

/** Summarizes the rounds of one candidate with ratios to the reference. */
export function summarizeCandidate(
  { name, bytes }: { readonly name: string; readonly bytes: number },
  reference: string,
  cold: readonly Sample[],
  warm: readonly Sample[],
) {
  const compare = (samples: readonly Sample[], value: 'wallMs' | 'cpuMs' | 'peakMemoryMb'): Measure => {
    const own = samples.filter(({ candidate }) => candidate === name);
    const references = samples.filter(({ candidate }) => candidate === reference);
    const byRound = new Map(references.map((sample) => [sample.round, sample[value]]));
    // Within a round, so that what slows a whole round down does not count.
    const ratios = own.map((sample) => sample[value] / (byRound.get(sample.round) ?? Number.NaN));
    return { ...summarize(own.map((sample) => sample[value])), ratio: summarize(ratios) };
  };
  return {
    name,
    bytes,
    coldWallMs: compare(cold, 'wallMs'),
    coldCpuMs: compare(cold, 'cpuMs'),
    warmWallMs: compare(warm, 'wallMs'),
    warmCpuMs: compare(warm, 'cpuMs'),
    memoryMb: compare(warm, 'peakMemoryMb'),
  };
}

/** @param values - at least one */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), lower: quantile(sorted, 0.25), upper: quantile(sorted, 0.75) };
}

function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}
