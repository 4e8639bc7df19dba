import { readCommandLine, UsageError, usage } from './command-line.ts';
import { testService } from './test-service.ts';

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
