import type { Candidate } from './candidates.ts';
import { createEvent, type EndpointCall } from './endpoints.ts';
import { invoke } from './invoke.ts';
import { readCpuMs, readPeakMemoryMb } from './process-usage.ts';
import { shuffle } from './statistics.ts';

/** What the first response of a new instance took. */
export interface ColdStart {
  readonly candidate: string;
  readonly round: number;
  /** From the start of the process to the response, in milliseconds. */
  readonly wallMs: number;
  /** Processor time of the process until then, in milliseconds. */
  readonly cpuMs: number;
  readonly peakMemoryMb: number;
}

/**
 * Starts instances with a request waiting for them, as Lambda does, everyone once in each round, in random order.
 *
 * @param endpoint - the endpoint
 * @param candidates - who serves it
 * @param databaseUrl - DB_URL
 * @param rounds - how many instances of each
 */
export async function measureColdStarts(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  databaseUrl: string,
  rounds: number,
): Promise<ColdStart[]> {
  const event = createEvent(endpoint);
  const results: ColdStart[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const candidate of shuffle(candidates)) {
      const startedAt = performance.now();
      const instance = await candidate.start(databaseUrl);
      try {
        await invoke(instance, event);
        const wallMs = performance.now() - startedAt;
        const cpuMs = readCpuMs(instance.pid);
        results.push({
          candidate: candidate.name,
          round,
          wallMs,
          cpuMs,
          peakMemoryMb: readPeakMemoryMb(instance.pid),
        });
      } finally {
        await instance.stop();
      }
    }
  }
  return results;
}
