import { capacityOf } from '../../test/simulators/metering-proxy.ts';
import type { Candidate } from './candidates.ts';
import { type Cost, costOf } from './cost.ts';
import { createCpuShare } from './cpu-share.ts';
import { createEvent, type EndpointCall } from './endpoints.ts';
import { invoke } from './invoke.ts';
import { summarize } from './statistics.ts';

/** What an endpoint takes and costs with a memory size. */
export interface SweepResult {
  readonly route: string;
  readonly memoryMb: number;
  readonly coldMs: number;
  readonly warmMs: number;
  readonly cost: Cost;
}

const memorySizesMb = [256, 512, 1024, 1769];
const warmUpCalls = 200;
const warmCalls = 100;

/**
 * Measures our function of an endpoint with the processor shares of several memory sizes.
 *
 * @param endpoint - the endpoint
 * @param ours - our function
 * @param databaseUrl - DB_URL
 * @param coldStarts - instances for each memory size
 * @returns nothing where the processor cannot be shared out
 */
export async function sweepMemory(
  endpoint: EndpointCall,
  ours: Candidate,
  databaseUrl: string,
  coldStarts: number,
): Promise<SweepResult[]> {
  const event = createEvent(endpoint);
  const results: SweepResult[] = [];
  for (const memoryMb of memorySizesMb) {
    const share = createCpuShare(memoryMb);
    if (share === undefined) return [];
    const cold: number[] = [];
    const warm: number[] = [];
    try {
      for (let start = 0; start < coldStarts; start += 1) {
        const startedAt = performance.now();
        const instance = await ours.start(databaseUrl, {}, share.launcher);
        try {
          await invoke(instance, event);
          cold.push(performance.now() - startedAt);
          if (start > 0) continue;
          for (let call = 0; call < warmUpCalls + warmCalls; call += 1) {
            const calledAt = performance.now();
            await invoke(instance, event);
            if (call >= warmUpCalls) warm.push(performance.now() - calledAt);
          }
        } finally {
          await instance.stop();
        }
      }
    } finally {
      share.remove();
    }
    const coldMs = summarize(cold).median;
    const warmMs = warm.reduce((sum, time) => sum + time, 0) / warm.length;
    const cost = costOf(memoryMb, coldMs, warmMs, capacityOf[endpoint.route]);
    results.push({ route: endpoint.route, memoryMb, coldMs, warmMs, cost });
  }
  return results;
}
