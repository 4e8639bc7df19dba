import { readdirSync, readFileSync } from 'node:fs';

/**
 * @param pid - a process
 * @returns the processor time that its threads have had so far, in milliseconds, as the scheduler accounts it
 */
export function readCpuMs(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}

/**
 * @param pid - a process
 * @returns the most physical memory that it has had so far, in MB (2^20 bytes)
 */
export function readPeakMemoryMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
