import type { Candidate } from './candidates.ts';
import { createEvent, type EndpointCall } from './endpoints.ts';
import { invoke } from './invoke.ts';
import { readCpuMs, readPeakMemoryMb } from './process-usage.ts';
import { shuffle } from './statistics.ts';

/** What calls of an instance took that has had some before. */
export interface WarmCalls {
  readonly candidate: string;
  readonly round: number;
  /** Milliseconds for one call, seen from the Runtime API. */
  readonly wallMs: number;
  /** Processor time of the process for one call, in milliseconds. */
  readonly cpuMs: number;
  readonly peakMemoryMb: number;
}

/** How much is measured. */
export interface WarmCallsOptions {
  readonly rounds: number;
  readonly warmUpCalls: number;
  readonly callsPerRound: number;
}

/**
 * Calls warm instances one call after the other, everyone a new one in each round, in random order: what V8 optimizes,
 * and when, makes instances of the same function differ by 10 %.
 *
 * @param endpoint - the endpoint
 * @param candidates - who serves it
 * @param databaseUrl - DB_URL
 * @param options - how much
 */
export async function measureWarmCalls(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  databaseUrl: string,
  { rounds, warmUpCalls, callsPerRound }: WarmCallsOptions,
): Promise<WarmCalls[]> {
  const event = createEvent(endpoint);
  const results: WarmCalls[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const candidate of shuffle(candidates)) {
      const instance = await candidate.start(databaseUrl);
      try {
        for (let call = 0; call < warmUpCalls; call += 1) await invoke(instance, event);
        const cpuBefore = readCpuMs(instance.pid);
        const startedAt = performance.now();
        for (let call = 0; call < callsPerRound; call += 1) await invoke(instance, event);
        results.push({
          candidate: candidate.name,
          round,
          wallMs: (performance.now() - startedAt) / callsPerRound,
          cpuMs: (readCpuMs(instance.pid) - cpuBefore) / callsPerRound,
          peakMemoryMb: readPeakMemoryMb(instance.pid),
        });
      } finally {
        await instance.stop();
      }
    }
  }
  return results;
}
