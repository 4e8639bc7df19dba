import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { messageReason } from './message-plugin.ts';
import type { Reason } from './reasons.ts';

/** The part of StrykerJS's result of a mutant that is used here. Lines and columns count from 1. */
export interface MutantResult {
  readonly fileName: string;
  readonly status: string;
  readonly statusReason?: string;
  readonly replacement: string;
  readonly location: Readonly<Record<'start' | 'end', { readonly line: number; readonly column: number }>>;
}

interface Expectations {
  /** The mutated files. */
  readonly files: readonly string[];
  /** Whether these are all files. */
  readonly isComplete: boolean;
  readonly reasons: readonly Reason[];
}

/** A mutant that breaks the loading of a module is a RuntimeError. */
const killed = ['Killed', 'Timeout', 'RuntimeError'];

/** The most mutants in a hundred that may have a reason. */
const maxPercentWithReason = 3;

/**
 * Compares results with the list of reasons.
 *
 * @returns a line for each file and the sum, and what fails the run
 */
export function judge(
  results: readonly MutantResult[],
  { files, isComplete, reasons }: Expectations,
): Readonly<Record<'counts' | 'problems', readonly string[]>> {
  const counts: string[] = [];
  const problems: string[] = [];
  const own = results.map((result) => ({ ...result, file: relative('.', result.fileName) }));
  const made = own.filter(({ file, statusReason }) => files.includes(file) && statusReason !== messageReason);
  const living = made.filter(({ status }) => !killed.includes(status));
  const changes = Map.groupBy(living, describeChange);
  const explained = reasons.filter(({ file }) => files.includes(file)).flatMap(describeEach);

  // On a busy machine, a mutant that no test can tell apart may take too long.
  const slow = made.filter(({ status }) => status === 'Timeout');
  const kept = new Set([...changes.keys(), ...slow.map(describeChange)]);
  for (const change of explained.filter((change) => !kept.has(change))) {
    problems.push(`The list has a reason, but the mutant is killed or gone: ${change}`);
  }
  const unexplained = [...changes].filter(([change]) => !explained.includes(change));
  for (const [change, mutants] of unexplained) {
    for (const { status, location } of mutants) problems.push(`${status} at line ${location.start.line}: ${change}`);
  }
  const withoutReason = unexplained.flatMap(([, mutants]) => mutants);
  for (const file of files) {
    const count = (mutants: typeof made) => mutants.filter((mutant) => mutant.file === file).length;
    counts.push(`${file}: ${count(made)} mutants, ${count(living)} live, ${count(withoutReason)} without a reason`);
  }
  const reasoned = living.length - withoutReason.length;
  counts.push(`All: ${made.length} mutants, ${living.length} live, ${withoutReason.length} without a reason`);
  if (isComplete && reasoned > (made.length * maxPercentWithReason) / 100) {
    problems.push(`More than ${maxPercentWithReason} % of the mutants have a reason.`);
  }
  if (isComplete && !results.some(({ statusReason }) => statusReason === messageReason)) {
    problems.push('The plugin leaves out no message any more.');
  }
  return { counts, problems };
}

const describeChange = (mutant: MutantResult & { readonly file: string }) =>
  describe(mutant.file, cut(mutant), mutant.replacement);

const describeEach = ({ file, code, mutants }: Reason) => mutants.map((mutant) => describe(file, code, mutant));

/** StrykerJS prints replacements in a format of its own. */
function describe(file: string, code: string, mutant: string): string {
  const [before, after] = [code, mutant].map((text) => text.replaceAll(/\s+/g, ' ').trim());
  return `${file}\n  - ${before}\n  + ${after}`;
}

/** Reads the code that a mutant replaces. */
function cut({ fileName, location: { start, end } }: MutantResult): string {
  const lines = readFileSync(fileName, 'utf8').split('\n');
  const taken = lines.slice(start.line - 1, end.line);
  taken.push((taken.pop() ?? '').slice(0, end.column - 1));
  return taken.join('\n').slice(start.column - 1);
}
