import { findEndpoint } from './calls.ts';
import type { PrepareCandidates } from './candidates.ts';
import { countInstructions } from './instructions.ts';

/**
 * Limits of our instructions as a ratio to the reference's, with room for chance: cold starts differ by 2 % from run to
 * run, and by 4 % more for each timeout that fires under valgrind; calls by 10 %, short ones by 20 %, as V8 optimizes when
 * it likes. The last two are for `--against`.
 */
const limits = [
  { name: 'get-book', reference: 'bare', cold: 0.65, call: 1.1 },
  { name: 'create-token', reference: 'no-op', cold: 1.6, call: 2.5 },
  { name: 'get-book', reference: 'before', cold: 1.04, call: 1.1 },
  { name: 'create-token', reference: 'before', cold: 1.04, call: 1.2 },
];

/**
 * Counts the instructions of two functions and prints their ratios to the reference. `folder` gets valgrind's log.
 *
 * @returns whether they stay within their limits
 */
export async function checkInstructions(
  prepare: PrepareCandidates,
  databaseUrl: string,
  folder: string,
): Promise<boolean> {
  let passed = true;
  for (const { name, reference, ...limit } of limits) {
    const endpoint = findEndpoint(name);
    const [ours, theirs] = await prepare(endpoint, [reference]);
    if (ours === undefined || theirs === undefined) continue;
    const counts = await countInstructions(endpoint, ours, databaseUrl, folder);
    const base = await countInstructions(endpoint, theirs, databaseUrl, folder);
    for (const measure of ['cold', 'call'] as const) {
      const ratio = counts[measure] / base[measure];
      const holds = ratio <= limit[measure];
      const millions = (counts[measure] / 1e6).toFixed(2);
      const verdict = `${holds ? 'within' : 'OVER'} the limit of ${limit[measure]}`;
      console.log(
        `${name}, ${measure}: ${millions} million, ${ratio.toFixed(2)} of ${reference}, ${verdict}`,
      );
      passed &&= holds;
    }
  }
  return passed;
}
