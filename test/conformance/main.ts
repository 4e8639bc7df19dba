import { type CommandLine, readCommandLine, UsageError, usage } from './command-line.ts';
import { createContext } from './context.ts';
import { runCases } from './run-cases.ts';
import { selectCases } from './suite.ts';

/** What a shell reports for a command that was ended by Ctrl-C. */
const interruptedCode = 130;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const commandLine = readCommandLine(args);
    if (commandLine !== undefined) return await testService(commandLine);
    console.log(usage);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    return 2;
  }
}

async function testService(commandLine: CommandLine): Promise<number> {
  const interruption = new AbortController();
  process.once('SIGINT', () => {
    console.error('Interrupted; deleting the books of this run. Ctrl-C again ends at once.');
    interruption.abort(new Error('interrupted'));
    process.once('SIGINT', () => process.exit(interruptedCode));
  });
  const { signal } = interruption;
  const context = createContext({ ...commandLine, signal });
  try {
    await context.token();
  } catch (error) {
    console.error(`The service at ${commandLine.baseUrl} cannot be tested: ${(error as Error).message}`);
    context.close();
    return 1;
  }
  const { selected, leftOut } = selectCases({
    ...commandLine,
    secretKnown: commandLine.secret !== undefined,
  });
  const { passed, failed } = await runCases(selected, context, console.log, signal);
  const left = await context.cleanUp();
  context.close();
  if (left.length > 0) console.error(`Books of this run that could not be deleted: ${left.join(', ')}`);
  if (signal.aborted) return interruptedCode;
  for (const [group, cases] of Map.groupBy(leftOut, ({ group }) => group)) {
    const option = cases.some(({ needsSecret }) => needsSecret) && commandLine.secret === undefined;
    console.log(`${group}: ${cases.length} not run${option ? ' (they need --secret)' : ''}`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
