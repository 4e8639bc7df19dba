import { afterAll, beforeAll, describe, test } from 'vitest';
import { LocalService, testSettings } from '../local/local-service.ts';
import { ConformanceContext } from './context.ts';
import { conformanceCases } from './suite.ts';

let service: LocalService;
let context: ConformanceContext;

beforeAll(async () => {
  service = await LocalService.start();
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
});

describe('the local service conforms', () => {
  for (const { name, run } of conformanceCases) test(name, () => run(context));
});
