/** `npm run load`: the local service under load, with an empty database, every response checked. */

import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { parseArgs, promisify } from 'node:util';
import { ConformanceContext } from '../../test/conformance/context.ts';
import { createDataFolder, LocalService, testSettings } from '../../test/local/local-service.ts';
import { formatDurations, runLoad } from './run-load.ts';

const usage = `Usage: npm run load -- [--seconds N]

Sends 50 requests at a time (80 % get, 10 % list page, 6 % update, 3 % create, 1 % delete) to a local service of its own,
for 300 seconds by default, and checks every response.

Exit code: 0 when every response was right, 1 when not, 2 for wrong usage.`;

const shownFailures = 10;

process.exitCode = await main();

/** @returns the exit code */
async function main(): Promise<number> {
  const seconds = readSeconds();
  if (seconds === undefined) {
    console.error(usage);
    return 2;
  }
  const { durations, failures, booksChecked, memoryMb, ...took } = await load(seconds);
  console.log(formatDurations(durations, took.seconds));
  const [start, end, peak] = [memoryMb[0], memoryMb.at(-1), Math.max(...memoryMb)];
  console.log(
    `\nMemory of the service with its database: first ${start} MB, last ${end} MB, peak ${peak} MB`,
  );
  const checked = `${booksChecked} books checked after ${took.seconds.toFixed(0)} s`;
  console.log(`\n${checked}, ${failures.length} responses wrong`);
  for (const { message } of failures.slice(0, shownFailures)) console.error(`- ${message}`);
  return failures.length === 0 ? 0 : 1;
}

function readSeconds(): number | undefined {
  try {
    const { values } = parseArgs({ options: { seconds: { type: 'string', default: '300' } } });
    return /^[1-9]\d*$/.test(values.seconds) ? Number(values.seconds) : undefined;
  } catch {
    return undefined;
  }
}

async function load(seconds: number) {
  const dataFolder = await createDataFolder();
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  const service = await LocalService.start({ DB_PATH: dataFolder });
  const context = ConformanceContext.create({ baseUrl: service.baseUrl, username, password });
  try {
    return await runLoad(context, seconds, async () => {
      const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(service.processId)]);
      return Math.round(Number(stdout) / 1024);
    });
  } finally {
    context.close();
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}
