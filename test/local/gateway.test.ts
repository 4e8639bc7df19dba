import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { request } from '../../conformance/http-client.ts';
import { Session } from '../../conformance/session.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { testSettings } from '../../tools/local/local-service.ts';
import { openRaw } from '../support/raw-http.ts';
import { useLocalService } from './use-local-service.ts';

const corsOrigin = 'https://docs.example.com';
const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;

const { baseUrl, service } = await useLocalService({ CORS_ORIGIN: corsOrigin });
const session = new Session({ baseUrl, username, password, corsOrigin });

afterAll(() => session.close());

describe('with an origin in the configuration', () => {
  const crossOriginCases = conformanceCases.filter(({ group }) => group === 'cross-origin');
  for (const { name, run } of crossOriginCases) test(name, () => run(session));
});

test('a browser caches the response to a preflight request for two hours', async () => {
  const { headers } = await fetch(`${baseUrl}/book`, { method: 'OPTIONS' });

  expect(headers.get('access-control-max-age')).toBe('7200');
});

test.each(['/books', '/nowhere', '/book/%zz'])(
  'the error of %s names the configured origin to any other',
  async (path) => {
    const { headers } = await request(baseUrl + path, { headers: { Origin: 'https://elsewhere.test' } });

    expect(headers).toMatchObject({
      'access-control-allow-origin': corsOrigin,
      'access-control-expose-headers': 'ETag, Idempotency-Replayed, Link, Location, Retry-After',
    });
  },
);

test('OPTIONS on an unknown path is 404', async () => {
  expect((await request(`${baseUrl}/nowhere`, { method: 'OPTIONS' })).status).toBe(404);
});

test('a connection that was idle for longer than Node allows by default takes another request', async () => {
  const bytes = 'GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const socket = await openRaw(service.port, bytes);
  onTestFinished(() => void socket.destroy());
  const [first] = await once(socket, 'data');

  await wait(7_000);

  expect(socket.readyState).toBe('open');
  socket.write(bytes);
  const [second] = await once(socket, 'data');
  for (const response of [first, second])
    expect(String(response)).toMatch(/^HTTP\/1\.1 404 [\s\S]*Keep-Alive: timeout=65\r\n/);
});
