import type { ConformanceCase } from './case.ts';
import type { ConformanceContext } from './context.ts';
import { ExpectationError, showValue } from './expectation.ts';
import { workInParallel } from './in-parallel.ts';

const casesAtOnce = 8;

/** Logins go one at a time anyway; the others send many requests at once or fetch large lists. */
const groupsOneAtATime: ReadonlySet<string> = new Set(['token', 'list-books', 'concurrency']);

/** How a run ended. */
export interface RunResult {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Runs cases group by group and prints one line per group, and each failed case.
 *
 * @param cases - the cases to run
 * @param context - made for the service to test
 * @param print - takes each line
 * @param signal - stops the run before the next case
 */
export async function runCases(
  cases: readonly ConformanceCase[],
  context: ConformanceContext,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<RunResult> {
  let passed = 0;
  let failed = 0;
  for (const [group, members] of Map.groupBy(cases, (conformanceCase) => conformanceCase.group)) {
    if (signal.aborted) break;
    const width = groupsOneAtATime.has(group) ? 1 : casesAtOnce;
    const startedAt = performance.now();
    const errors = await workInParallel(members, width, (conformanceCase) =>
      signal.aborted ? Promise.resolve(undefined) : findError(conformanceCase, context),
    );
    if (signal.aborted) break;
    const failures = members.flatMap((conformanceCase, index) => {
      const error = errors[index];
      return error === undefined ? [] : [formatFailure(conformanceCase, error)];
    });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const succeeded = members.length - failures.length;
    const counts =
      failures.length === 0 ? `${succeeded} passed` : `${succeeded} passed, ${failures.length} FAILED`;
    print(`${group}: ${counts} (${seconds} s)`);
    for (const failure of failures) print(failure);
    passed += succeeded;
    failed += failures.length;
  }
  return { passed, failed };
}

async function findError(
  conformanceCase: ConformanceCase,
  context: ConformanceContext,
): Promise<Error | undefined> {
  try {
    await conformanceCase.run(context);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function formatFailure({ name, reference }: ConformanceCase, error: Error): string {
  const lines = [`  FAILED: ${name}`, `    reference: ${reference}`];
  if (error instanceof ExpectationError) {
    lines.push(`    looked at: ${error.subject}`);
    lines.push(`    expected:  ${showValue(error.expected)}`);
    lines.push(`    got:       ${showValue(error.actual)}`);
  } else {
    lines.push(`    error:     ${error.name === 'ConnectionError' ? error.message : error.stack}`);
  }
  return lines.join('\n');
}
