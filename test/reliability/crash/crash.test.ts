import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, type TestContext, test } from 'vitest';
import { startEngineProcess } from '../../fakes/engine.ts';
import { LocalService } from '../../support/local-service.ts';
import { makeTemporaryFolder } from '../../support/temporary-folder.ts';
import { checkHistory } from '../check-history.ts';
import { Workload } from '../workload.ts';

/** The number of kills. */
const rounds = Number(process.env.CRASH_ROUNDS ?? 10);

/** Few books at a time, so that clients share them. */
const workloadOptions = {
  clients: 8,
  booksInUse: 6,
  mix: { get: 30, list: 2, update: 30, create: 20, repeat: 8, delete: 10 },
};

async function startService({ onTestFinished }: TestContext, environment: NodeJS.ProcessEnv) {
  const service = await LocalService.start(environment);
  expect(service.output).not.toContain('damaged');
  onTestFinished(async () => void (await service.stop()));
  return service;
}

/** Waits for the moment of a crash. */
const waitForCrash = () => sleep(randomInt(300, 2_500));

/** Retries the creates without a response, and compares the stored books with the responses. */
async function check(workload: Workload, baseUrl: string): Promise<void> {
  await workload.completeCreates(baseUrl);
  expect(await workload.list(baseUrl)).toBe(200);
  expect(checkHistory(workload.operations)).toEqual([]);
  expect(workload.acknowledgedWrites).toBeGreaterThan(rounds);
  console.log(`${rounds} crashes, ${workload.acknowledgedWrites} acknowledged writes, none lost`);
}

describe.concurrent(`kill -9, ${rounds} times under load: nothing is lost or made up`, () => {
  test('of the service and the engine in it', async (context) => {
    const environment = { DB_PATH: await makeTemporaryFolder(context.onTestFinished) };
    const workload = new Workload(workloadOptions);
    for (let round = 0; round < rounds; round += 1) {
      const service = await startService(context, environment);
      expect(await workload.list(service.baseUrl)).toBe(200);
      const stop = new AbortController();
      const working = workload.run(service.baseUrl, stop.signal);
      await waitForCrash();
      await service.kill();
      stop.abort();
      await working;
    }
    await check(workload, (await startService(context, environment)).baseUrl);
  });

  test('of the database; the service stays up', async (context) => {
    const dataFolder = await makeTemporaryFolder(context.onTestFinished);
    let engine = await startEngineProcess(dataFolder);
    context.onTestFinished(() => engine.kill());
    const { baseUrl } = await startService(context, { DB_URL: `http://127.0.0.1:${engine.port}/books` });
    const workload = new Workload(workloadOptions);
    const stop = new AbortController();
    const working = workload.run(baseUrl, stop.signal);
    for (let round = 0; round < rounds; round += 1) {
      await waitForCrash();
      await engine.kill();
      // From no outage to one that is longer than all attempts at a request.
      await sleep(randomInt(1_000));
      engine = await startEngineProcess(dataFolder, engine.port);
      await expect.poll(() => workload.list(baseUrl), { timeout: 10_000, interval: 100 }).toBe(200);
    }
    await waitForCrash();
    stop.abort();
    await working;
    await check(workload, baseUrl);
  });
});
