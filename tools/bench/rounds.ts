import type { LambdaInstance } from '../../test/aws/runtime/lambda-instance.ts';
import type { Candidate } from './candidates.ts';
import { readPeakMemoryMb } from './process-usage.ts';
import { shuffle } from './statistics.ts';

/** What something took, in milliseconds. */
interface Times {
  /** Seen from the Runtime API. */
  readonly wallMs: number;
  /** Processor time of the process. */
  readonly cpuMs: number;
}

/** What was measured of one instance. */
export interface Sample extends Times {
  readonly candidate: string;
  readonly round: number;
  readonly peakMemoryMb: number;
}

/**
 * Measures instances one after the other, everyone a new one in each round, in random order.
 *
 * @param candidates - who takes part
 * @param databaseUrl - DB_URL
 * @param rounds - how many instances of each
 * @param measure - calls an instance; it gets the time at which the process was started, as performance.now() has it
 */
export async function measureInRounds(
  candidates: readonly Candidate[],
  databaseUrl: string,
  rounds: number,
  measure: (instance: LambdaInstance, startedAt: number) => Promise<Times>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const candidate of shuffle(candidates)) {
      const startedAt = performance.now();
      const instance = await candidate.start(databaseUrl);
      try {
        const times = await measure(instance, startedAt);
        const peakMemoryMb = readPeakMemoryMb(instance.pid);
        samples.push({ candidate: candidate.name, round, ...times, peakMemoryMb });
      } finally {
        await instance.stop();
      }
    }
  }
  return samples;
}
