import type { ConformanceCase } from './case.ts';
import type { CommandLine } from './command-line.ts';
import { createContext } from './context.ts';
import { findListStart } from './list-start.ts';
import { type RunResult, runCases } from './run-cases.ts';
import { selectCases } from './suite.ts';

/** What a shell reports for a command that was ended by Ctrl-C. */
const interruptedCode = 130;

/** What to test, and how. */
export interface TestOptions extends CommandLine {
  /** Whether a case that asks something about API Gateway may have another outcome than the local service. */
  readonly toleratesGateway?: boolean;
  /** How many requests are in flight at once. */
  readonly requestsAtOnce?: number;
  /** Is given the result. */
  readonly report?: (result: RunResult) => void;
}

/**
 * Runs the conformance suite against a service, and prints how it went.
 *
 * @param options - the service, how to log in there, which groups to run, and how
 * @returns the exit code: 0 when all cases passed and their books are deleted, 1 when not or when the service cannot be
 *   used, 130 after Ctrl-C
 */
export async function testService(options: TestOptions): Promise<number> {
  const interruption = new AbortController();
  process.once('SIGINT', () => {
    console.error('Interrupted; deleting the books of this run. Ctrl-C again ends at once.');
    interruption.abort(new Error('interrupted'));
    process.once('SIGINT', () => process.exit(interruptedCode));
  });
  const { signal } = interruption;
  const context = createContext({ ...options, signal });
  let listStart: number | undefined;
  try {
    listStart = await findListStart(context);
  } catch (error) {
    console.error(`The service at ${options.baseUrl} cannot be tested: ${(error as Error).message}`);
    context.close();
    return 1;
  }
  const { selected, leftOut } = selectCases({
    ...options,
    secretKnown: options.secret !== undefined,
    largeCatalog: listStart !== undefined,
  });
  if (listStart !== undefined) {
    console.log('The catalog is large: lists are read in pages, from the first book of this run.');
  }
  const { toleratesGateway = false, report } = options;
  const run = context.fork({ listStart });
  const result = await runCases(selected, run, {
    print: console.log,
    signal,
    toleratesGateway,
  });
  await run.cleanUp();
  const left = await context.cleanUp();
  context.close();
  if (left.length > 0) console.error(`Books of this run that could not be deleted: ${left.join(', ')}`);
  if (signal.aborted) return interruptedCode;
  for (const [group, cases] of Map.groupBy(leftOut, ({ group }) => group)) {
    console.log(`${group}: ${cases.length} not run${explain(cases, options.secret)}`);
  }
  const { passed, failed, differing } = result;
  console.log(`${passed} passed, ${failed} failed${differing > 0 ? `, ${differing} different` : ''}`);
  report?.(result);
  return failed === 0 && left.length === 0 ? 0 : 1;
}

function explain(cases: readonly ConformanceCase[], secret: string | undefined): string {
  if (secret === undefined && cases.some(({ needsSecret }) => needsSecret)) return ' (they need --secret)';
  return cases.some(({ readsWholeList }) => readsWholeList) ? ' (they read the whole catalog)' : '';
}
