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
 * Calls warm instances one call after the other, everyone once in each round, in random order.
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
  const runners = await Promise.all(
    candidates.map(async (candidate) => ({
      name: candidate.name,
      instance: await candidate.start(databaseUrl),
    })),
  );
  const results: WarmCalls[] = [];
  try {
    for (const { instance } of runners) {
      for (let call = 0; call < warmUpCalls; call += 1) await invoke(instance, event);
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, instance } of shuffle(runners)) {
        const cpuBefore = readCpuMs(instance.pid);
        const startedAt = performance.now();
        for (let call = 0; call < callsPerRound; call += 1) await invoke(instance, event);
        const wallMs = (performance.now() - startedAt) / callsPerRound;
        const cpuMs = (readCpuMs(instance.pid) - cpuBefore) / callsPerRound;
        results.push({
          candidate: name,
          round,
          wallMs,
          cpuMs,
          peakMemoryMb: readPeakMemoryMb(instance.pid),
        });
      }
    }
  } finally {
    for (const { instance } of runners) await instance.stop();
  }
  return results;
}
