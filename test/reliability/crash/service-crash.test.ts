import { rm } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { authorize, createDataFolder, LocalService } from '../../local/local-service.ts';
import { checkHistory } from './check-history.ts';
import { rounds, waitForCrash } from './rounds.ts';
import { type Target, Workload } from './workload.ts';

test(`kill -9 of the service and the engine in it, ${rounds} times under load: nothing is lost or made up`, async () => {
  const dataFolder = await createDataFolder();
  onTestFinished(() => rm(dataFolder, { recursive: true, force: true }));
  const workload = new Workload();
  const start = async (): Promise<[LocalService, Target]> => {
    const service = await LocalService.start({ DB_PATH: dataFolder });
    onTestFinished(() => service.kill());
    return [service, { baseUrl: service.baseUrl, headers: await authorize(service.baseUrl) }];
  };

  for (let round = 0; round < rounds; round += 1) {
    const [service, target] = await start();
    expect(await workload.list(target)).toBe(200);
    const stop = new AbortController();
    const working = workload.run(target, stop.signal);
    await waitForCrash();
    await service.kill();
    stop.abort();
    await working;
  }
  const [, target] = await start();
  await workload.completeCreates(target);
  expect(await workload.list(target)).toBe(200);

  expect(checkHistory(workload.operations)).toEqual([]);
  expect(workload.violations).toEqual([]);
  expect(workload.acknowledgedWrites).toBeGreaterThan(rounds);
  console.log(`${rounds} crashes, ${workload.acknowledgedWrites} acknowledged writes, none lost`);
});
