import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEvent, type EndpointCall } from './calls.ts';
import type { Candidate } from './candidates.ts';
import { invoke } from './instance.ts';

/** The fewer of so many cold starts: valgrind is so slow that a timeout may fire, which takes more instructions. */
const coldStarts = 2;

/** Such a timeout may even end an instance. */
const maxAttempts = 3;

const warmUpCalls = 100;
const calls = 100;

/** @returns whether this machine can count instructions */
export function hasValgrind(): boolean {
  return spawnSync('valgrind', ['--version']).status === 0;
}

/**
 * Counts the instructions of a function, all threads and V8's own included. Unlike times, they are nearly the same in each
 * run, whatever else the machine does.
 *
 * @returns those until the first response, and those of one warm call
 */
export async function countInstructions(
  endpoint: EndpointCall,
  candidate: Candidate,
  databaseUrl: string,
  folder: string,
): Promise<{ readonly cold: number; readonly call: number }> {
  const event = createEvent(endpoint);
  const log = join(folder, 'valgrind.log');
  const countUntil = async (responses: number, attempt = 1): Promise<number> => {
    try {
      return await countOnce(candidate, event, databaseUrl, log, responses);
    } catch (error) {
      if (attempt === maxAttempts) throw error;
      return countUntil(responses, attempt + 1);
    }
  };
  const cold: number[] = [];
  while (cold.length < coldStarts) cold.push(await countUntil(1));
  const warm = await countUntil(warmUpCalls);
  return { cold: Math.min(...cold), call: ((await countUntil(warmUpCalls + calls)) - warm) / calls };
}

async function countOnce(
  candidate: Candidate,
  event: unknown,
  databaseUrl: string,
  log: string,
  responses: number,
): Promise<number> {
  const options = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null'];
  // V8 writes code, and the launcher turns into the function.
  options.push('--smc-check=all-non-file', '--trace-children=yes', `--log-file=${log}`);
  const instance = await candidate.start(databaseUrl, {}, ['valgrind', ...options]);
  try {
    for (let response = 0; response < responses; response += 1) await invoke(instance, event);
    // valgrind writes its log when its program ends by a signal that can be caught.
    process.kill(instance.pid, 'SIGTERM');
    await instance.waitForExit();
  } finally {
    await instance.stop();
  }
  const [, count] = /I +refs: +([\d,]+)/.exec(await readFile(log, 'utf8')) ?? [];
  if (count === undefined) throw new Error(`valgrind counted nothing, see ${log}`);
  return Number(count.replaceAll(',', ''));
}
