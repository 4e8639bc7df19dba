/**
 * `npm run load`: the service under load, every response checked. Without `--base-url` it starts the local service, with
 * an empty database.
 */

import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { parseArgs, promisify } from 'node:util';
import { ConformanceContext, type ContextOptions } from '../../test/conformance/context.ts';
import { createDataFolder, LocalService, testSettings } from '../../test/local/local-service.ts';
import { formatDurations, type LoadReport, runLoad } from './run-load.ts';

const usage = `Usage: npm run load -- [options]

Sends 50 requests at a time (80 % get, 10 % list page, 6 % update, 3 % create, 1 % delete) and checks every response.

  --seconds N         how long; 300 by default
  --base-url URL      a running service; by default a local one is started, with a database of its own
  --username U        the running service's username
  --password P        the running service's password
  --help              show this text

Exit code: 0 when every response was right, 1 when not or when the service cannot be used, 2 for wrong usage.`;

class UsageError extends Error {}

const text = { type: 'string' } as const;
const options = { 'base-url': text, username: text, password: text, help: { type: 'boolean' } } as const;

const shownFailures = 10;

process.exitCode = await main().catch((error: NodeJS.ErrnoException) => {
  const isUsageError = error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(
    isUsageError ? `${error.message}\n\n${usage}` : `The service cannot be used: ${error.message}`,
  );
  return isUsageError ? 2 : 1;
});

/** @returns the exit code */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { ...options, seconds: { ...text, default: '300' } } });
  const { help, 'base-url': baseUrl, username, password } = values;
  if (help) console.log(usage);
  if (help) return 0;
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw new UsageError(`${values.seconds} is no number of seconds`);
  if (baseUrl === undefined) return printReport(await loadLocal(seconds));
  if (!URL.canParse(baseUrl)) throw new UsageError(`${baseUrl} is not a URL`);
  if (!username || !password) throw new UsageError('--base-url needs --username and --password');
  return printReport(await load({ baseUrl, username, password }, seconds));
}

async function loadLocal(seconds: number): Promise<LoadReport> {
  const dataFolder = await createDataFolder();
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  const service = await LocalService.start({ DB_PATH: dataFolder });
  try {
    return await load({ baseUrl: service.baseUrl, username, password }, seconds, async () => {
      const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(service.processId)]);
      return Math.round(Number(stdout) / 1024);
    });
  } finally {
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}

async function load(service: ContextOptions, seconds: number, readMemoryMb?: () => Promise<number>) {
  const context = ConformanceContext.create(service);
  try {
    return await runLoad(context, seconds, readMemoryMb);
  } finally {
    const left = await context.cleanUp();
    context.close();
    if (left.length > 0) console.error(`These books could not be deleted: ${left.join(', ')}`);
  }
}

function printReport({ durations, seconds, failures, booksChecked, memoryMb }: LoadReport): number {
  console.log(formatDurations(durations, seconds));
  if (memoryMb.length > 0) {
    const [start, end, peak] = [memoryMb[0], memoryMb.at(-1), Math.max(...memoryMb)];
    console.log(
      `\nMemory of the service with its database: ${start} MB at first, ${end} MB at last, ${peak} MB at most`,
    );
  }
  console.log(
    `\n${booksChecked} books checked after ${seconds.toFixed(0)} s, ${failures.length} responses wrong`,
  );
  for (const { message } of failures.slice(0, shownFailures)) console.error(`- ${message}`);
  return failures.length === 0 ? 0 : 1;
}
