import { readCommandLine, usage } from './command-line.ts';
import { CommandError, UsageError } from './errors.ts';
import { exportBooks } from './export-books.ts';
import { importBooks } from './import-books.ts';

/** What a shell reports for a command that SIGINT ended. */
const interrupted = 130;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const stop = stopOnSignal();
  let command: ReturnType<typeof readCommandLine>;
  try {
    command = readCommandLine(args, process.env);
    if (command === undefined) {
      console.log(usage);
      return 0;
    }
    if (command.name === 'import') return (await importBooks(command, stop)).rejected > 0 ? 3 : 0;
    await exportBooks(command, stop);
    return 0;
  } catch (error) {
    if (stop.aborted) {
      console.error(command?.name === 'import' ? 'Interrupted; the same command continues' : 'Interrupted');
      return interrupted;
    }
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${usage}`);
      return 2;
    }
    if (!(error instanceof CommandError)) throw error;
    console.error(error.message);
    return 1;
  }
}

/** The first signal lets requests in flight have their answers, the second ends the process as it stands. */
function stopOnSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.error('Waiting for the answers to what was sent; once more to end at once');
      controller.abort();
    });
  }
  return controller.signal;
}
