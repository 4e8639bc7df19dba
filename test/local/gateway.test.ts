import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crossOriginCases } from '../../conformance/cases/cross-origin.ts';
import { ConformanceContext } from '../../conformance/context.ts';
import { request } from '../../conformance/http-client.ts';
import { testSettings } from '../../tools/local/local-service.ts';
import { useLocalService } from './use-local-service.ts';

describe('with an origin in the configuration', () => {
  const corsOrigin = 'https://docs.example.com';
  const local = useLocalService({ CORS_ORIGIN: corsOrigin });
  let context: ConformanceContext;

  beforeAll(() => {
    const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
    context = new ConformanceContext({ baseUrl: local.baseUrl, username, password, corsOrigin });
  });

  afterAll(() => context.close());

  for (const { name, run } of crossOriginCases) test(name, () => run(context));

  test('a browser caches the response to a preflight request for two hours', async () => {
    const { headers } = await fetch(`${local.baseUrl}/book`, { method: 'OPTIONS' });

    expect(headers.get('access-control-max-age')).toBe('7200');
  });

  test.each(['/books', '/nowhere', '/book/%zz'])(
    'the error of %s names that origin to any other',
    async (path) => {
      const elsewhere = { Origin: 'https://elsewhere.test' };
      const { headers } = await request(local.baseUrl + path, { headers: elsewhere });

      expect(headers).toMatchObject({
        'access-control-allow-origin': corsOrigin,
        'access-control-expose-headers': 'ETag, Idempotency-Replayed, Link, Retry-After',
      });
    },
  );

  test('OPTIONS on an unknown path is 404', async () => {
    expect((await request(`${local.baseUrl}/nowhere`, { method: 'OPTIONS' })).status).toBe(404);
  });
});
