import type { Findings } from './audit.ts';

/** The exit code of every script here when the machine lacks something that the script needs. */
const notRun = 77;

/**
 * Sums up the checks. A check that was not possible is never reported as clean.
 *
 * @returns the lines to print, and the exit code: 1 with findings, 77 when something was not checked, otherwise 0
 */
export function conclude(results: readonly Findings[]): {
  readonly lines: readonly string[];
  readonly exitCode: number;
} {
  const found = results.flatMap((result) => result.found);
  const notChecked = results.flatMap((result) => result.notChecked);
  const complete = notChecked.length === 0;
  const sum =
    found.length > 0 ? `${found.length} found.` : complete ? 'Nothing found.' : 'Not everything was checked.';
  return {
    lines: [...found, ...notChecked.map((line) => `NOT checked: ${line}`), sum],
    exitCode: found.length > 0 ? 1 : complete ? 0 : notRun,
  };
}
