import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** Lambda gives a function one processor at this memory size, and a share in proportion below it. */
const oneCpuMb = 1769;

/** The period after which the kernel hands out a share anew. */
const periodUs = 20_000;

const root = '/sys/fs/cgroup/cpu';

/** A command-line prefix whose processes get the processor share of a memory size. */
export interface CpuShare {
  readonly launcher: readonly string[];
  remove(): void;
}

/**
 * Makes a control group (version 1) with the share of processor time that Lambda gives a memory size.
 *
 * @param memoryMb - the memory size, up to 1,769 MB
 * @returns the share, or `undefined` where control groups cannot be made
 */
export function createCpuShare(memoryMb: number): CpuShare | undefined {
  const folder = `${root}/book-catalog-bench-${process.pid}-${memoryMb}`;
  try {
    mkdirSync(folder);
    writeFileSync(`${folder}/cpu.cfs_period_us`, String(periodUs));
    writeFileSync(`${folder}/cpu.cfs_quota_us`, String(Math.round((periodUs * memoryMb) / oneCpuMb)));
  } catch {
    return undefined;
  }
  return {
    launcher: ['sh', '-c', `echo $$ > ${folder}/tasks && exec "$@"`, 'sh'],
    remove: () => rmdirSync(folder),
  };
}
