import { afterAll, describe, test } from 'vitest';
import { Session } from '../../../conformance/session.ts';
import { conformanceCases } from '../../../conformance/suite.ts';
import { useTables } from '../../support/fixtures.ts';
import { testSettings } from '../../support/local-service.ts';
import { startGateway } from './gateway.ts';

const { open } = await useTables();
const gateway = await startGateway({ DB_URL: (await open()).url });
const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
const session = new Session({ baseUrl: gateway.baseUrl, username, password, secret });

afterAll(async () => {
  session.close();
  await gateway.stop();
});

describe("the packaged functions conform under AWS's runtime client, with response streaming", () => {
  for (const { name, run } of conformanceCases) test(name, () => run(session));
});
