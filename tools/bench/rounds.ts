import { readPeakMemoryMb } from '../runtime/lambda-instance.ts';
import { createEvent, type EndpointCall } from './calls.ts';
import type { Candidate } from './candidates.ts';
import { invokeTimes, readCpuMs } from './instance.ts';

/** The measures of one instance: times in milliseconds, memory in MB. */
export type Sample = Awaited<ReturnType<typeof measureInstance>> & {
  readonly candidate: string;
  readonly round: number;
};

type Effort = Readonly<Record<'rounds' | 'warmUpCalls' | 'calls', number>>;

/**
 * Measures instances one after the other: in each round a new one of every candidate, in random order. Several, because
 * what V8 optimizes, and when, makes instances of the same function differ by 10 %.
 */
export async function measureInRounds(
  call: EndpointCall,
  candidates: readonly Candidate[],
  effort: Effort,
): Promise<Sample[]> {
  const event = createEvent(call);
  const samples: Sample[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    const shuffled = candidates.map((candidate) => ({ candidate, order: Math.random() }));
    for (const { candidate } of shuffled.sort((a, b) => a.order - b.order)) {
      const measures = await measureInstance(candidate, event, effort);
      samples.push({ candidate: candidate.name, round, ...measures });
    }
  }
  return samples;
}

/** Starts an instance with a request waiting for it, as Lambda does, and calls it while it is warm. */
async function measureInstance(candidate: Candidate, event: unknown, { warmUpCalls, calls }: Effort) {
  const startedAt = performance.now();
  const instance = await candidate.start();
  try {
    await invokeTimes(instance, event, 1);
    const coldWallMs = performance.now() - startedAt;
    const coldCpuMs = readCpuMs(instance);
    await invokeTimes(instance, event, warmUpCalls);
    const [warmAt, warmCpu] = [performance.now(), readCpuMs(instance)];
    await invokeTimes(instance, event, calls);
    const warmWallMs = (performance.now() - warmAt) / calls;
    const warmCpuMs = (readCpuMs(instance) - warmCpu) / calls;
    return { coldWallMs, coldCpuMs, warmWallMs, warmCpuMs, memoryMb: readPeakMemoryMb(instance) };
  } finally {
    await instance.stop();
  }
}
