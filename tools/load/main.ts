/**
 * `npm run load`: the service under load, every answer checked. Without `--base-url` it starts the local service, with
 * an empty database.
 */

import { rm } from 'node:fs/promises';
import { ConformanceContext } from '../../test/conformance/context.ts';
import { createDataFolder, LocalService, testSettings } from '../../test/local/local-service.ts';
import { type LoadOptions, readLoadOptions, UsageError, usage } from './command-line.ts';
import { readMemory } from './process-memory.ts';
import { type LoadReport, runLoad } from './run-load.ts';

const shownFailures = 10;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readLoadOptions(args);
    if (options === undefined) {
      console.log(usage);
      return 0;
    }
    const report = await (options.service
      ? loadRunning(options.seconds, options.service)
      : loadLocal(options.seconds));
    printReport(report);
    return report.failures.length === 0 ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${usage}`);
      return 2;
    }
    console.error(`The service cannot be used: ${(error as Error).message}`);
    return 1;
  }
}

async function loadRunning(
  seconds: number,
  service: NonNullable<LoadOptions['service']>,
): Promise<LoadReport> {
  const context = ConformanceContext.create(service);
  try {
    return await runLoad(context, seconds);
  } finally {
    const left = await context.cleanUp();
    context.close();
    if (left.length > 0) console.error(`These books could not be deleted: ${left.join(', ')}`);
  }
}

async function loadLocal(seconds: number): Promise<LoadReport> {
  const dataFolder = await createDataFolder();
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  const service = await LocalService.start({ DB_PATH: dataFolder });
  const context = ConformanceContext.create({ baseUrl: service.baseUrl, username, password });
  try {
    return await runLoad(context, seconds, () => readMemory(service.processId));
  } finally {
    context.close();
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}

function printReport({ measurements, seconds, failures, booksChecked, memory }: LoadReport): void {
  console.log(measurements.format(seconds));
  const middle = memory[Math.floor(memory.length / 2)];
  const [first, last] = [memory[0], memory.at(-1)];
  if (first && middle && last) {
    const peak = Math.max(...memory.map(({ megabytes }) => megabytes));
    console.log(
      `\nMemory of the service, with its database: ${first.megabytes} MB at the start, ${middle.megabytes} MB in the ` +
        `middle, ${last.megabytes} MB at the end, ${peak} MB at most`,
    );
  }
  console.log(
    `\n${measurements.count} answers and ${booksChecked} books checked in ${seconds.toFixed(0)} s, ` +
      `${failures.length} wrong`,
  );
  for (const { message } of failures.slice(0, shownFailures)) console.error(`- ${message}`);
}
