import { afterAll, beforeAll, describe, test } from 'vitest';
import { testSettings } from '../local/local-service.ts';
import { useLocalService } from '../local/use-local-service.ts';
import { ConformanceContext } from './context.ts';
import { conformanceCases } from './suite.ts';

const local = useLocalService();
let context: ConformanceContext;

beforeAll(() => {
  const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  context = new ConformanceContext({ baseUrl: local.baseUrl, username, password, secret });
});

afterAll(() => context.close());

describe('the local service conforms', () => {
  for (const { name, run } of conformanceCases) test(name, () => run(context));
});
