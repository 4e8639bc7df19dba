import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { Call } from './calls.ts';
import { type Candidate, type Candidates, invokeTimes } from './candidates.ts';

const rounds = 10;
/** Most instances of a function serve few requests. */
const firstCalls = 5;
const warmUpCalls = 700;
const warmCalls = 300;

type Sample = Awaited<ReturnType<typeof measureInstance>>;

/**
 * Measures instances one after the other and prints a table in Markdown: medians, and their ratios to the last candidate
 * with quartiles. Each round has a new instance of every candidate, because V8 optimizes each at another time. A ratio
 * is taken within a round, so that what slows a whole round down does not count. The last candidate of a search is the
 * whole list: ours, or that of the other checkout.
 *
 * @throws an Error when candidates that do the same work have other responses
 */
export async function measure(call: Call, { others, prepare }: Candidates): Promise<void> {
  const { event, wholeList } = call;
  const names = ['ours', ...(wholeList ? [others.includes('before') ? 'before' : 'ours'] : others)];
  const candidates = await Promise.all(names.map((name) => prepare(name, call)));
  const samples: Sample[][] = candidates.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, candidate] of candidates.entries()) {
      samples[index]?.push(await measureInstance(candidate, (index > 0 && wholeList) || event));
    }
  }
  const references = samples.at(-1) ?? [];
  for (const [index, { name }] of candidates.entries()) {
    const isSame = name !== 'no-op' && !wholeList;
    if (isSame) assert.deepEqual(samples[index]?.[0]?.response, references[0]?.response, 'other responses');
  }
  console.log(`### ${call.name}\n`);
  console.log(
    `| | Bundle (KB) | Cold first response (ms) | First ${firstCalls} calls, CPU (ms) | Warm call, CPU (ms) |`,
  );
  console.log('|---|--:|--:|--:|--:|');
  for (const [index, { name, bytes }] of candidates.entries()) {
    const cells = (['coldMs', 'firstCpuMs', 'warmCpuMs'] as const).map((key) => {
      const values = samples[index]?.map((sample) => sample[key]) ?? [];
      const ratios = values.map((value, round) => value / (references[round]?.[key] ?? Number.NaN));
      const [lower, median, upper] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2));
      return `${quantile(values, 0.5).toFixed(2)} · **${median}** (${lower}–${upper})`;
    });
    const candidate = index > 0 && wholeList ? `${name}, the whole list` : name;
    console.log(`| ${candidate} | ${Math.round(bytes / 1000)} | ${cells.join(' | ')} |`);
  }
  console.log();
}

/** Starts an instance with a request waiting for it, as Lambda does, and calls it while it is warm. */
async function measureInstance(candidate: Candidate, event: Call['event']) {
  const startedAt = performance.now();
  const instance = await candidate.start();
  try {
    const firstBody = invokeTimes(instance, event, 1);
    await instance.api.initialized;
    const initCpuMs = readCpuMs(instance.pid);
    const body = await firstBody;
    const coldMs = performance.now() - startedAt;
    const response = JSON.parse(body, (name, value) => (name === 'token' ? 'a token' : value));
    await invokeTimes(instance, event, firstCalls - 1);
    const firstCpuMs = readCpuMs(instance.pid) - initCpuMs;
    await invokeTimes(instance, event, warmUpCalls);
    const warmUpCpuMs = readCpuMs(instance.pid);
    await invokeTimes(instance, event, warmCalls);
    return { response, coldMs, firstCpuMs, warmCpuMs: (readCpuMs(instance.pid) - warmUpCpuMs) / warmCalls };
  } finally {
    await instance.stop();
  }
}

/** @returns the CPU time of all threads of a process so far, as the scheduler accounts it */
function readCpuMs(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** The nearest value, without interpolation. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? Number.NaN;
}
