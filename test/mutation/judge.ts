import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { messageReason } from './message-plugin.ts';
import { reasons, unfinished } from './reasons.ts';

/** The part of StrykerJS's result of a mutant that is used here. Lines and columns count from 1. */
export interface MutantResult {
  readonly fileName: string;
  readonly status: string;
  readonly statusReason?: string;
  readonly replacement: string;
  readonly location: Readonly<Record<'start' | 'end', { readonly line: number; readonly column: number }>>;
}

/** A mutant that breaks the loading of a module is a RuntimeError. */
const killed = ['Killed', 'Timeout', 'RuntimeError'];

/** The most mutants in a hundred that may have a reason. */
const maxPercentWithReason = 3;

/**
 * Compares results with the list of reasons. Prints a line for each file, then each mutant that lives without a reason, and
 * each reason without its mutant.
 *
 * @param files - the mutated files
 * @param isComplete - whether these are all files
 * @returns whether nothing is wrong
 */
export function judge(files: readonly string[], results: readonly MutantResult[], isComplete: boolean): boolean {
  const problems: string[] = [];
  const notices: string[] = [];
  const explained = new Set<string>();
  const total = { killed: 0, reasoned: 0, living: 0 };
  for (const file of files) {
    const source = readFileSync(file, 'utf8').split('\n');
    const count = { killed: 0, reasoned: 0, living: 0 };
    for (const { fileName, status, statusReason, replacement, location } of results) {
      if (relative('.', fileName) !== file || statusReason === messageReason) continue;
      const change = describeChange(file, cut(source, location), replacement);
      if (killed.includes(status)) count.killed += 1;
      else if (changesWithReason.has(change)) {
        count.reasoned += 1;
        explained.add(change);
      } else {
        count.living += 1;
        const found = unfinished.includes(file) ? notices : problems;
        found.push(`${status} at line ${location.start.line}: ${change}`);
      }
    }
    console.log(`${file}: ${count.killed} killed, ${count.reasoned} with a reason, ${count.living} others`);
    if (unfinished.includes(file) && count.living === 0) problems.push(`${file} is finished: take it off the list.`);
    for (const name of ['killed', 'reasoned', 'living'] as const) total[name] += count[name];
  }
  for (const [change, file] of changesWithReason) {
    const isObsolete = files.includes(file) && !explained.has(change);
    if (isObsolete) problems.push(`The list has a reason, but the mutant is killed or gone: ${change}`);
  }
  const made = total.killed + total.reasoned + total.living;
  const isTooLong = isComplete && total.reasoned > (made * maxPercentWithReason) / 100;
  if (isTooLong) problems.push(`More than ${maxPercentWithReason} % of the mutants have a reason.`);
  for (const text of [...notices, ...problems]) console.log(`\n${text}`);
  console.log(`\n${made} mutants, of which ${total.killed} are killed and ${total.reasoned} have a reason`);
  return problems.length === 0;
}

/** The changes that have a reason, with their files. */
const changesWithReason = new Map(
  reasons.flatMap(({ file, code, mutants }) => mutants.map((mutant) => [describeChange(file, code, mutant), file])),
);

/** StrykerJS prints replacements in a format of its own. */
function describeChange(file: string, code: string, mutant: string): string {
  const [before, after] = [code, mutant].map((text) => text.replaceAll(/\s+/g, ' ').trim());
  return `${file}\n  - ${before}\n  + ${after}`;
}

function cut(source: readonly string[], { start, end }: MutantResult['location']): string {
  const lines = source.slice(start.line - 1, end.line);
  lines.push((lines.pop() ?? '').slice(0, end.column - 1));
  return lines.join('\n').slice(start.column - 1);
}
