import { afterAll, beforeAll, describe, test } from 'vitest';
import { ConformanceContext } from '../../../conformance/context.ts';
import { conformanceCases } from '../../../conformance/suite.ts';
import { useTables } from '../../support/fixtures.ts';
import { startGateway } from './gateway.ts';
import { settings } from './start-function.ts';

const { open } = await useTables();
let gateway: Awaited<ReturnType<typeof startGateway>>;
let context: ConformanceContext;

beforeAll(async () => {
  const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = settings;
  gateway = await startGateway({ DB_URL: (await open()).url });
  context = new ConformanceContext({ baseUrl: gateway.baseUrl, username, password, secret });
});

afterAll(async () => {
  context.close();
  await gateway.stop();
});

describe("the packaged functions conform under AWS's runtime client, with response streaming", () => {
  for (const { name, run } of conformanceCases) test(name, () => run(context));
});
