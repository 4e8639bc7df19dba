import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { request } from '../../../conformance/http-client.ts';
import { requestIgnored, requestLost, responseCut, serverError } from '../../fakes/faults.ts';
import { startFaultyService, underEveryFault } from '../../reliability/faults/faulty-service.ts';
import { runRound } from '../../reliability/faults/round.ts';
import { testSettings } from '../../support/local-service.ts';
import { startGateway } from './gateway.ts';
import type { LambdaInstance } from './lambda-instance.ts';

/** The freezes between two invocations; FREEZE_SECONDS=1,5,19,21,65,120 for all that are promised. */
const freezes = (process.env.FREEZE_SECONDS ?? '1,21').split(',').map(Number);

/** Longer than an idle connection is used again. */
const maxIdleSeconds = 20;

const timeLimitMs = 1_200_000 + Math.max(...freezes) * 1_000;

/** One request for each function, so that each has one instance. */
const names = ['POST /book', 'GET /books', 'GET /book/{id}', 'PUT /book/{id}', 'DELETE /book/{id}'];

/** Starts the packaged functions, which trust the certificate of the proxy. */
async function startPackagedService() {
  let readInstances = async (): Promise<readonly LambdaInstance[]> => [];
  const service = await startFaultyService({ isTls: true }, async (databaseUrl) => {
    const { baseUrl, instances, stop } = await startGateway(environmentOf(databaseUrl));
    onTestFinished(stop);
    readInstances = () => Promise.all(instances);
    return (method, path, init) => request(baseUrl + path, { method, ...init });
  });
  return { ...service, readInstances: () => readInstances() };
}

function environmentOf(databaseUrl: string): NodeJS.ProcessEnv {
  return { ...testSettings, DB_URL: databaseUrl, NODE_EXTRA_CA_CERTS: join(inject('functionsFolder'), 'loopback.pem') };
}

test(
  `the first request to every function is right after a freeze of ${freezes.join(', ')} s in which its connections ended`,
  async () => {
    const rounds = await Promise.all(
      freezes.flatMap((seconds) =>
        (['reset', 'closed', 'dead'] as const).map(async (end) => {
          const service = await startPackagedService();
          await runRound(service, { names });
          const instances = await service.readInstances();
          await runRound(service, { names }, async () => {
            for (const { pid } of instances) process.kill(pid, 'SIGSTOP');
            service.proxy.endConnections(end);
            await sleep(seconds * 1_000);
            for (const { pid } of instances) process.kill(pid, 'SIGCONT');
          });
          return { end, seconds, unanswered: service.proxy.countUnanswered() };
        }),
      ),
    );

    console.log(rounds);
    // Otherwise some waited for a dead connection.
    expect(rounds.filter(({ seconds, unanswered }) => seconds > maxIdleSeconds && unanswered > 0)).toEqual([]);
  },
  timeLimitMs,
);

test(
  'a fault of two attempts is invisible to the clients of a packaged function and to its INIT phase, and of all a 503',
  async () => {
    const services: Awaited<ReturnType<typeof startPackagedService>>[] = [];
    const start = async () => {
      const service = await startPackagedService();
      services.push(service);
      return service;
    };
    const update = ['PUT /book/{id}'];
    const faults = [requestIgnored, requestLost, serverError, responseCut];
    await underEveryFault(faults, start, async (service, fault) => {
      const { proxy } = service;
      // The first request starts an instance.
      await runRound(service, { names: update }, () => proxy.disturb({ fault, attempts: 2 }));
      await runRound(service, { names: update, fail: () => true }, () => proxy.disturb({ fault }));
      await runRound(service, { names: update });
    });

    const instances = await Promise.all(services.map(({ readInstances }) => readInstances()));
    for (const { output } of instances.flat()) expect(output).not.toContain('Uncaught');
  },
  timeLimitMs,
);
