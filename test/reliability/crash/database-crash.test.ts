import { randomInt } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { authorize, createDataFolder, LocalService } from '../../local/local-service.ts';
import { EngineProcess } from '../../simulators/engine.ts';
import { checkHistory } from './check-history.ts';
import { rounds, waitForCrash } from './rounds.ts';
import { Workload } from './workload.ts';

/** From none at all to longer than all attempts of a request take. */
const maxOutageMs = 1_000;

/** The service is expected to find the engine again at the first request. */
const recoveryMs = 10_000;

test(`kill -9 of the database, ${rounds} times under load: the service stays up, nothing is lost or made up`, async () => {
  const dataFolder = await createDataFolder();
  let engine = await EngineProcess.start(dataFolder);
  onTestFinished(async () => {
    await engine.kill();
    await rm(dataFolder, { recursive: true, force: true });
  });
  const service = await LocalService.start({ DB_URL: `http://127.0.0.1:${engine.port}/books` });
  onTestFinished(() => service.kill());
  const target = { baseUrl: service.baseUrl, headers: await authorize(service.baseUrl) };
  const workload = new Workload();

  const stop = new AbortController();
  const working = workload.run(target, stop.signal);
  for (let round = 0; round < rounds; round += 1) {
    await waitForCrash();
    await engine.kill();
    await sleep(randomInt(maxOutageMs));
    engine = await EngineProcess.start(dataFolder, engine.port);
    await expect.poll(() => workload.list(target), { timeout: recoveryMs, interval: 100 }).toBe(200);
  }
  await waitForCrash();
  stop.abort();
  await working;
  await workload.completeCreates(target);
  expect(await workload.list(target)).toBe(200);

  expect(checkHistory(workload.operations)).toEqual([]);
  expect(workload.violations).toEqual([]);
  expect(workload.acknowledgedWrites).toBeGreaterThan(rounds);
  console.log(`${rounds} crashes, ${workload.acknowledgedWrites} acknowledged writes, none lost`);
});
