import type { Candidate } from './candidates.ts';
import { createEvent, type EndpointCall } from './endpoints.ts';
import { invoke } from './invoke.ts';
import { readCpuMs } from './process-usage.ts';
import { measureInRounds, type Sample } from './rounds.ts';

/**
 * Starts instances with a request waiting for them, as Lambda does.
 *
 * @param endpoint - the endpoint
 * @param candidates - who serves it
 * @param databaseUrl - DB_URL
 * @param rounds - how many instances of each
 * @returns what the first response of each took, from the start of its process
 */
export async function measureColdStarts(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  databaseUrl: string,
  rounds: number,
): Promise<Sample[]> {
  const event = createEvent(endpoint);
  return measureInRounds(candidates, databaseUrl, rounds, async (instance, startedAt) => {
    await invoke(instance, event);
    return { wallMs: performance.now() - startedAt, cpuMs: readCpuMs(instance.pid) };
  });
}
