import type { CommandLine } from './command-line.ts';
import { createContext } from './context.ts';
import { runCases } from './run-cases.ts';
import { selectCases } from './suite.ts';

/** What a shell reports for a command that was ended by Ctrl-C. */
const interruptedCode = 130;

/**
 * Runs the conformance suite against a service, and prints how it went.
 *
 * @param options - the service, how to log in there, and which groups to run
 * @returns the exit code: 0 when all cases passed, 1 when not or when the service cannot be used, 130 after Ctrl-C
 */
export async function testService(options: CommandLine): Promise<number> {
  const interruption = new AbortController();
  process.once('SIGINT', () => {
    console.error('Interrupted; deleting the books of this run. Ctrl-C again ends at once.');
    interruption.abort(new Error('interrupted'));
    process.once('SIGINT', () => process.exit(interruptedCode));
  });
  const { signal } = interruption;
  const context = createContext({ ...options, signal });
  try {
    await context.token();
  } catch (error) {
    console.error(`The service at ${options.baseUrl} cannot be tested: ${(error as Error).message}`);
    context.close();
    return 1;
  }
  const { selected, leftOut } = selectCases({
    ...options,
    secretKnown: options.secret !== undefined,
  });
  const { passed, failed } = await runCases(selected, context, console.log, signal);
  const left = await context.cleanUp();
  context.close();
  if (left.length > 0) console.error(`Books of this run that could not be deleted: ${left.join(', ')}`);
  if (signal.aborted) return interruptedCode;
  for (const [group, cases] of Map.groupBy(leftOut, ({ group }) => group)) {
    const option = cases.some(({ needsSecret }) => needsSecret) && options.secret === undefined;
    console.log(`${group}: ${cases.length} not run${option ? ' (they need --secret)' : ''}`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
