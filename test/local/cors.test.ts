import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crossOriginCases } from '../conformance/cases/cross-origin.ts';
import { ConformanceContext } from '../conformance/context.ts';
import { authorize, createDataFolder, LocalService, testSettings } from './local-service.ts';

const origin = 'https://docs.example.com';
const exposed = 'ETag, Idempotency-Replayed, Link, Retry-After';

let service: LocalService;
let dataFolder: string;
let context: ConformanceContext;

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({ DB_PATH: dataFolder, CORS_ORIGIN: origin });
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  context = ConformanceContext.create({ baseUrl: service.baseUrl, username, password, corsOrigin: origin });
});

afterAll(async () => {
  context.close();
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

describe('with an origin in the configuration', () => {
  for (const { name, run } of crossOriginCases) test(name, () => run(context));

  test('a browser remembers the answer to a preflight request for two hours', async () => {
    const { headers } = await fetch(`${service.baseUrl}/book`, { method: 'OPTIONS' });

    expect(headers.get('access-control-max-age')).toBe('7200');
  });

  test.each([
    ['a success', '/books', true, 200],
    ['an error', '/book/1', true, 404],
    ['a refused token', '/books', false, 401],
  ])('%s may be read from there, its headers included', async (_answer, path, authorized, status) => {
    const headers = authorized ? await authorize(service.baseUrl) : {};

    const response = await fetch(service.baseUrl + path, { headers: { ...headers, Origin: origin } });

    expect(response.status).toBe(status);
    expect(corsHeaders(response)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposed,
    });
  });

  test.each(['/nowhere', '/book/%zz'])(
    'what the gateway answers to %s may be read from there',
    async (path) => {
      const response = await fetch(service.baseUrl + path, { headers: { Origin: origin } });

      expect(corsHeaders(response)).toEqual({
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposed,
      });
    },
  );

  test('another origin is told the same, and so may read nothing', async () => {
    const response = await fetch(`${service.baseUrl}/books`, {
      headers: { Origin: 'https://elsewhere.test' },
    });

    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  });

  test('OPTIONS on an unknown path is 404', async () => {
    const { status } = await fetch(`${service.baseUrl}/nowhere`, { method: 'OPTIONS' });

    expect(status).toBe(404);
  });
});

function corsHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
}
