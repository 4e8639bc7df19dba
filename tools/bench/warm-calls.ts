import type { Candidate } from './candidates.ts';
import { createEvent, type EndpointCall } from './endpoints.ts';
import { invoke } from './invoke.ts';
import { readCpuMs } from './process-usage.ts';
import { measureInRounds, type Sample } from './rounds.ts';

/** How much is measured. */
export interface WarmCallsOptions {
  readonly rounds: number;
  readonly warmUpCalls: number;
  readonly callsPerRound: number;
}

/**
 * Calls warm instances one call after the other, several of each, since what V8 optimizes, and when, makes instances of
 * the same function differ by 10 %.
 *
 * @param endpoint - the endpoint
 * @param candidates - who serves it
 * @param databaseUrl - DB_URL
 * @param options - how much
 * @returns what one call of each instance took
 */
export async function measureWarmCalls(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  databaseUrl: string,
  { rounds, warmUpCalls, callsPerRound }: WarmCallsOptions,
): Promise<Sample[]> {
  const event = createEvent(endpoint);
  return measureInRounds(candidates, databaseUrl, rounds, async (instance) => {
    for (let call = 0; call < warmUpCalls; call += 1) await invoke(instance, event);
    const cpuBefore = readCpuMs(instance.pid);
    const startedAt = performance.now();
    for (let call = 0; call < callsPerRound; call += 1) await invoke(instance, event);
    return {
      wallMs: (performance.now() - startedAt) / callsPerRound,
      cpuMs: (readCpuMs(instance.pid) - cpuBefore) / callsPerRound,
    };
  });
}
