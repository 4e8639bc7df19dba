import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Candidate } from './candidates.ts';
import { createEvent, type EndpointCall } from './endpoints.ts';
import { invoke } from './invoke.ts';

/** What valgrind counted: unlike times, nearly the same in each run, whatever else the machine does. */
export interface InstructionCount {
  readonly route: string;
  readonly candidate: string;
  /** Instructions of an instance until its first response. */
  readonly cold: number;
  /** Instructions of one call, after some. */
  readonly call: number;
}

/** The fewer of so many cold starts: now and then valgrind is so slow that a time limit strikes, which takes more. */
const coldStarts = 2;

/** Those time limits may even make an instance give up. */
const maxAttempts = 3;

const warmUpCalls = 100;
const calls = 100;

/** @returns whether instructions can be counted on this machine */
export function hasValgrind(): boolean {
  return spawnSync('valgrind', ['--version']).status === 0;
}

/**
 * Counts the instructions of functions, all threads and V8's own included.
 *
 * @param endpoint - the endpoint
 * @param candidates - who serves it
 * @param databaseUrl - DB_URL
 * @param folder - for valgrind's logs
 */
export async function countInstructions(
  endpoint: EndpointCall,
  candidates: readonly Candidate[],
  databaseUrl: string,
  folder: string,
): Promise<InstructionCount[]> {
  const log = join(folder, 'valgrind.log');
  const results: InstructionCount[] = [];
  for (const candidate of candidates) {
    const countUntil = async (responses: number): Promise<number> => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await countOnce(endpoint, candidate, databaseUrl, log, responses);
        } catch (error) {
          if (attempt === maxAttempts) throw error;
        }
      }
    };
    const cold: number[] = [];
    while (cold.length < coldStarts) cold.push(await countUntil(1));
    const warm = await countUntil(warmUpCalls);
    const call = ((await countUntil(warmUpCalls + calls)) - warm) / calls;
    results.push({ route: endpoint.route, candidate: candidate.name, cold: Math.min(...cold), call });
  }
  return results;
}

async function countOnce(
  endpoint: EndpointCall,
  candidate: Candidate,
  databaseUrl: string,
  log: string,
  responses: number,
): Promise<number> {
  const event = createEvent(endpoint);
  const instance = await candidate.start(databaseUrl, {}, [
    'valgrind',
    '--tool=cachegrind',
    '--cache-sim=no',
    '--cachegrind-out-file=/dev/null',
    `--log-file=${log}`,
    // V8 writes code.
    '--smc-check=all-non-file',
    // The launcher turns into the function.
    '--trace-children=yes',
  ]);
  try {
    for (let response = 0; response < responses; response += 1) await invoke(instance, event);
    // valgrind tells what it counted when its program ends by a signal that can be caught.
    process.kill(instance.pid, 'SIGTERM');
    await instance.waitForExit();
  } finally {
    await instance.stop();
  }
  const [, count] = /I +refs: +([\d,]+)/.exec(await readFile(log, 'utf8')) ?? [];
  if (count === undefined) throw new Error(`valgrind counted nothing, see ${log}`);
  return Number(count.replaceAll(',', ''));
}
