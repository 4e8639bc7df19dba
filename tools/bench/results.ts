import type { Sample } from './rounds.ts';
import { type Summary, summarize } from './statistics.ts';

/** A measure of a candidate, and how it compares with bare's in the same round. */
export interface Measure extends Summary {
  readonly ratio: Summary;
}

/** What came out for one candidate of an endpoint. Times in milliseconds, memory in MB. */
export interface CandidateResult {
  readonly name: string;
  readonly bytes: number;
  readonly coldWallMs: Measure;
  readonly coldCpuMs: Measure;
  readonly coldMemoryMb: Measure;
  readonly warmWallMs: Measure;
  readonly warmCpuMs: Measure;
  readonly warmMemoryMb: Measure;
}

/** What came out for one endpoint, ours first. */
export interface EndpointResult {
  readonly route: string;
  readonly candidates: readonly CandidateResult[];
}

/** What everyone is compared with. */
export const reference = 'bare';

/**
 * Summarizes the rounds of an endpoint.
 *
 * @param route - the endpoint
 * @param candidates - name and size of each bundle
 * @param cold - all cold starts
 * @param warm - all warm rounds
 */
export function summarizeEndpoint(
  route: string,
  candidates: readonly { readonly name: string; readonly bytes: number }[],
  cold: readonly Sample[],
  warm: readonly Sample[],
): EndpointResult {
  return {
    route,
    candidates: candidates.map(({ name, bytes }) => ({
      name,
      bytes,
      coldWallMs: measure(cold, name, ({ wallMs }) => wallMs),
      coldCpuMs: measure(cold, name, ({ cpuMs }) => cpuMs),
      coldMemoryMb: measure(cold, name, ({ peakMemoryMb }) => peakMemoryMb),
      warmWallMs: measure(warm, name, ({ wallMs }) => wallMs),
      warmCpuMs: measure(warm, name, ({ cpuMs }) => cpuMs),
      warmMemoryMb: measure(warm, name, ({ peakMemoryMb }) => peakMemoryMb),
    })),
  };
}

/** Ratios are taken within a round, so that what slows a whole round down does not count. */
function measure(rows: readonly Sample[], name: string, value: (row: Sample) => number): Measure {
  const own = rows.filter(({ candidate }) => candidate === name);
  const references = new Map(
    rows.filter(({ candidate }) => candidate === reference).map((row) => [row.round, value(row)]),
  );
  const ratios = own.map((row) => value(row) / (references.get(row.round) ?? Number.NaN));
  return { ...summarize(own.map(value)), ratio: summarize(ratios) };
}
