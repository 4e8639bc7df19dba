import { spawnSync } from 'node:child_process';
import { createEvent, type EndpointCall, findEndpoint } from './calls.ts';
import type { Candidate, PrepareCandidates } from './candidates.ts';
import { invoke } from './instance.ts';

/**
 * Limits of our instructions as a ratio to the reference's, with room for chance: cold starts differ by 2 % from run to
 * run, and by 4 % more for each timeout that fires under valgrind; calls by 10 %, short ones by 20 %, as V8 optimizes when
 * it likes. The last two are for `--against`.
 */
const limits = [
  { name: 'get-book', reference: 'bare', cold: 0.65, call: 1.1 },
  { name: 'create-token', reference: 'no-op', cold: 1.6, call: 2.5 },
  { name: 'get-book', reference: 'before', cold: 1.04, call: 1.2 },
  { name: 'create-token', reference: 'before', cold: 1.04, call: 1.2 },
];

/** valgrind is so slow that a timeout may fire, which takes more instructions or even ends an instance. */
const maxAttempts = 3;

const warmUpCalls = 100;
const calls = 100;

// V8 writes code, and the launcher turns into the function.
const options = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null'];
const valgrind = ['valgrind', ...options, '--smc-check=all-non-file', '--trace-children=yes'];

/** @returns whether this machine can count instructions */
export function hasValgrind(): boolean {
  return spawnSync('valgrind', ['--version']).status === 0;
}

/**
 * Counts the instructions of two functions and prints their ratios to the reference.
 *
 * @returns whether they stay within their limits
 */
export async function checkInstructions(prepare: PrepareCandidates): Promise<boolean> {
  let passed = true;
  for (const { name, reference, ...limit } of limits) {
    const endpoint = findEndpoint(name);
    const [ours, theirs] = await prepare(endpoint, [reference]);
    if (ours === undefined || theirs === undefined) continue;
    const counts = await countInstructions(endpoint, ours);
    const base = await countInstructions(endpoint, theirs);
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

/**
 * Counts the instructions of a function, all threads and V8's own included: those until the first response, and those of
 * one warm call. Unlike times, they are nearly the same in each run, whatever else the machine does.
 */
async function countInstructions(endpoint: EndpointCall, candidate: Candidate) {
  const event = createEvent(endpoint);
  const countUntil = async (responses: number, attempt = 1): Promise<number> => {
    try {
      return await countOnce(candidate, event, responses);
    } catch (error) {
      if (attempt === maxAttempts) throw error;
      return countUntil(responses, attempt + 1);
    }
  };
  const cold = Math.min(await countUntil(1), await countUntil(1));
  const warm = await countUntil(warmUpCalls);
  return { cold, call: ((await countUntil(warmUpCalls + calls)) - warm) / calls };
}

async function countOnce(candidate: Candidate, event: unknown, responses: number): Promise<number> {
  const instance = await candidate.start({}, valgrind);
  try {
    for (let response = 0; response < responses; response += 1) await invoke(instance, event);
    // valgrind writes its counts when its program ends by a signal that can be caught.
    process.kill(instance.pid, 'SIGTERM');
    await instance.waitForExit();
  } finally {
    await instance.stop();
  }
  const [, count] = /I +refs: +([\d,]+)/.exec(instance.output) ?? [];
  if (count === undefined) throw new Error(`valgrind counted nothing:\n${instance.output}`);
  return Number(count.replaceAll(',', ''));
}
