import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createDataFolder, LocalService, testSettings } from '../local/local-service.ts';
import { ConformanceContext } from './context.ts';
import { conformanceCases } from './suite.ts';

let service: LocalService;
let context: ConformanceContext;
let dataFolder: string;

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({ DB_PATH: dataFolder });
  context = ConformanceContext.create({
    baseUrl: service.baseUrl,
    username: testSettings.AUTH_USERNAME,
    password: testSettings.AUTH_PASSWORD,
    secret: testSettings.SECRET_TOKEN,
  });
});

afterAll(async () => {
  context.close();
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

describe('the local service conforms', () => {
  for (const { name, run } of conformanceCases) test(name, () => run(context));
});
