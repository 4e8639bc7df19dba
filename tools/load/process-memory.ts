import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Asks the system for the memory of a process that is not swapped out (its resident set).
 *
 * @param processId - the id of the process
 * @returns megabytes
 */
export async function readMemory(processId: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(processId)]);
  return Math.round(Number(stdout) / 1024);
}
