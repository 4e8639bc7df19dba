import { type Call, calls } from './calls.ts';
import { type Candidate, type Candidates, invokeTimes } from './candidates.ts';

/**
 * Limits of our instructions as a ratio to the reference's, with room for chance: cold starts differ by 2 % from run to
 * run, and by 4 % more for each timeout that fires under valgrind; calls by 10 %, short ones by 20 %, as V8 optimizes when
 * it likes. Those of `before` are for `--against`.
 */
const limits = [
  { name: 'get-book', reference: 'bare', cold: 0.82, warm: 1.1 },
  { name: 'create-book', reference: 'bare', cold: 0.82, warm: 1.1 },
  { name: 'update-book', reference: 'bare', cold: 0.82, warm: 1.65 },
  { name: 'create-token', reference: 'no-op', cold: 1.6, warm: 2.2 },
  { name: 'get-book', reference: 'before', cold: 1.04, warm: 1.2 },
  { name: 'update-book', reference: 'before', cold: 1.04, warm: 1.2 },
  { name: 'create-token', reference: 'before', cold: 1.04, warm: 1.2 },
];

/** valgrind is so slow that a timeout may fire, which takes more instructions or even ends an instance. */
const maxAttempts = 3;

const warmCalls = 200;

// V8 writes code, and the launcher turns into the function.
const options = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null'];
const valgrind = ['valgrind', ...options, '--smc-check=all-non-file', '--trace-children=yes'];

/**
 * Counts the instructions of functions and prints their ratios to the reference.
 *
 * @returns whether they stay within their limits
 */
export async function checkInstructions({ others, prepare }: Candidates): Promise<boolean> {
  let passed = true;
  for (const { name, reference, ...limit } of limits.filter((one) => others.includes(one.reference))) {
    for (const call of calls.filter((one) => one.name === name)) {
      const ours = await countInstructions(await prepare('ours', call), call);
      const theirs = await countInstructions(await prepare(reference, call), call);
      for (const measure of ['cold', 'warm'] as const) {
        const ratio = ours[measure] / theirs[measure];
        const holds = ratio <= limit[measure];
        const count = `${(ours[measure] / 1e6).toFixed(2)} million, ${ratio.toFixed(2)} of ${reference}`;
        console.log(`${name}, ${measure}: ${count}, ${holds ? 'within' : 'OVER'} the limit of ${limit[measure]}`);
        passed &&= holds;
      }
    }
  }
  return passed;
}

/**
 * Counts the instructions of a function, all threads and V8's own included: those until the first response, and those of
 * each further call, in which V8 still optimizes. Unlike times, they are nearly the same in each run, whatever else the
 * machine does.
 */
async function countInstructions(candidate: Candidate, call: Call) {
  const cold = await countUntil(1, candidate, call);
  return { cold, warm: ((await countUntil(1 + warmCalls, candidate, call)) - cold) / warmCalls };
}

async function countUntil(responses: number, candidate: Candidate, call: Call, attempt = 1): Promise<number> {
  const instance = await candidate.start(valgrind);
  try {
    await invokeTimes(instance, call.event, responses);
    // valgrind writes its counts when its program ends by a signal that can be caught.
    process.kill(instance.pid, 'SIGTERM');
    await instance.waitForExit();
    const [, count] = /I +refs: +([\d,]+)/.exec(instance.output) ?? [];
    if (count === undefined) throw new Error(`valgrind counted nothing:\n${instance.output}`);
    return Number(count.replaceAll(',', ''));
  } catch (error) {
    if (attempt === maxAttempts) throw error;
    return countUntil(responses, candidate, call, attempt + 1);
  } finally {
    await instance.stop();
  }
}
