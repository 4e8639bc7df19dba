import { afterAll, describe, test } from 'vitest';
import { Session } from '../../conformance/session.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { testSettings } from '../../tools/local/local-service.ts';
import { useLocalService } from '../local/use-local-service.ts';

const { baseUrl } = await useLocalService();
const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
const session = new Session({ baseUrl, username, password, secret });

afterAll(() => session.close());

describe('the local service conforms', () => {
  for (const { name, run } of conformanceCases) test(name, () => run(session));
});
