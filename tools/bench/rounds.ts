import { type LambdaInstance, readPeakMemoryMb } from '../runtime/lambda-instance.ts';
import { createEvent, type EndpointCall } from './calls.ts';
import type { Candidate } from './candidates.ts';
import { invoke, readCpuMs } from './instance.ts';

/** Wall-clock and CPU time in milliseconds. */
type Times = Readonly<Record<'wallMs' | 'cpuMs', number>>;

/** The measurement of one instance. */
export interface Sample extends Times {
  readonly candidate: string;
  readonly round: number;
  readonly peakMemoryMb: number;
}

/** Starts instances with a request waiting for them, as Lambda does: the times until the first response. */
export async function measureColdStarts(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  rounds: number,
): Promise<Sample[]> {
  const event = createEvent(endpoint);
  return measureInRounds(candidates, rounds, async (instance, startedAt) => {
    await invoke(instance, event);
    return { wallMs: performance.now() - startedAt, cpuMs: readCpuMs(instance) };
  });
}

/**
 * Calls warm instances: the times of one call. Several instances, because what V8 optimizes, and when, makes instances of
 * the same function differ by 10 %.
 */
export async function measureWarmCalls(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  { rounds, warmUpCalls, calls }: Readonly<Record<'rounds' | 'warmUpCalls' | 'calls', number>>,
): Promise<Sample[]> {
  const event = createEvent(endpoint);
  return measureInRounds(candidates, rounds, async (instance) => {
    for (let call = 0; call < warmUpCalls; call += 1) await invoke(instance, event);
    const cpuBefore = readCpuMs(instance);
    const startedAt = performance.now();
    for (let call = 0; call < calls; call += 1) await invoke(instance, event);
    const wallMs = (performance.now() - startedAt) / calls;
    return { wallMs, cpuMs: (readCpuMs(instance) - cpuBefore) / calls };
  });
}

/** One instance after the other: in each round a new one of every candidate, in random order. */
async function measureInRounds(
  candidates: readonly Candidate[],
  rounds: number,
  measure: (instance: LambdaInstance, startedAt: number) => Promise<Times>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const shuffled = candidates.map((candidate) => ({ candidate, order: Math.random() }));
    for (const { candidate } of shuffled.sort((a, b) => a.order - b.order)) {
      const startedAt = performance.now();
      const instance = await candidate.start();
      try {
        const times = await measure(instance, startedAt);
        samples.push({
          candidate: candidate.name,
          round,
          ...times,
          peakMemoryMb: readPeakMemoryMb(instance),
        });
      } finally {
        await instance.stop();
      }
    }
  }
  return samples;
}
