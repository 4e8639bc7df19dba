import { expect, test } from 'vitest';
import { forgeToken } from '../../conformance/forge-token.ts';
import { request } from '../../conformance/http-client.ts';
import { Session } from '../../conformance/session.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { testSettings, validToken } from '../support/local-service.ts';
import { exchangeRaw } from '../support/raw-http.ts';
import { useLocalService } from '../support/use-local-service.ts';

const corsOrigin = 'https://docs.example.com';
const { baseUrl, service } = await useLocalService({ CORS_ORIGIN: corsOrigin, TOKEN_LIFETIME: '60' });

test('the functions have the settings of the start', async () => {
  const { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
  const session = new Session({ baseUrl, username, password, corsOrigin, tokenLifetime: 60 });

  for (const { run } of conformanceCases.filter(({ rules }) => rules.includes('5.5'))) await run(session);
  session.close();
});

test('the error of a malformed path names the configured origin', async () => {
  const { headers } = await request(`${baseUrl}/book/%zz`);

  expect(headers['access-control-allow-origin']).toBe(corsOrigin);
});

test('the log line of a request has the id of its response, and no query', async () => {
  const { headers } = await request(`${baseUrl}/nowhere?title=Emma`);

  const id = headers['x-amzn-requestid'];
  await expect.poll(() => service.output).toMatch(new RegExp(` GET /nowhere 404 [\\d.]+ ms ${id}\n`));
});

const secret = testSettings.SECRET_TOKEN;
const expired = forgeToken({ claims: { exp: 1 }, secret });

test.each([
  ['with a prefix', `Bearer ${validToken}`, 'it is malformed, or has a prefix such as "Bearer"'],
  ['that has expired', expired, 'it has expired'],
  ['that is not valid yet', forgeToken({ claims: { nbf: 9_999_999_999 }, secret }), 'it is not valid yet'],
  ['of another secret', forgeToken({ claims: {}, secret: 'x' }), 'another secret signed it'],
  ['that nobody signed', forgeToken({ header: { alg: 'none' }, claims: {}, secret }), 'no HMAC method signed it'],
])('the log says why a token %s was refused, the response does not', async (_kind, Authorization, reason) => {
  const { envelope } = await request(`${baseUrl}/books`, { headers: { Authorization } });

  expect(envelope).toEqual({ status: 401, message: 'Invalid token', data: null });
  await expect.poll(() => service.output).toContain(` 401 GET /books: the token was refused (${reason})\n`);
  expect(service.output).not.toContain(Authorization.slice(-20));
});

test('the log says what was wrong with a request, and no value of it', async () => {
  const options = { method: 'POST', headers: { Authorization: validToken }, body: '{"year":"zq"}' };

  expect((await request(`${baseUrl}/book`, options)).status).toBe(400);
  await expect.poll(() => service.output).toContain(' 400 POST /book: refused (year)\n');
  expect(service.output).not.toContain('zq');
});

const own = ['LOCALHOST:80', '127.0.0.1:8080', '127.0.0.2', '[::1]:8080'];
const foreign = ['elsewhere.test', '127.0.0.1.elsewhere.test', 'localhost.elsewhere.test', '[::1].elsewhere.test'];

test('requests for this machine are served, those for another host are refused, with one warning (rule 15.6)', async () => {
  const send = async (...lines: readonly string[]) =>
    (await exchangeRaw(service.port, [...lines, 'Connection: close', '', ''].join('\r\n')))?.status;

  for (const host of own) expect(await send('GET /book/1 HTTP/1.1', `Host: ${host}`), host).toBe(401);
  for (const host of foreign) expect(await send('GET /book/1 HTTP/1.1', `Host: ${host}`), host).toBe(400);
  expect(await send('GET /book/1 HTTP/1.1')).toBe(400);
  expect(await send('GET /book/1 HTTP/1.1', 'Host: localhost', 'Host: localhost')).toBe(400);
  await expect.poll(() => service.output).toContain('DNS rebinding');
  expect(service.output.match(/DNS rebinding/g)).toHaveLength(1);
});

test('OPTIONS on an unknown path is 404', async () => {
  expect((await request(`${baseUrl}/nowhere`, { method: 'OPTIONS' })).status).toBe(404);
});

test('an origin whose preflight or simple request is refused gets one warning, and an allowed or proxied one gets none', async () => {
  const send = (method: string, Origin: string, site: string) =>
    fetch(`${baseUrl}/token`, { method, headers: { Origin, 'Sec-Fetch-Site': site } });
  await send('OPTIONS', corsOrigin, 'cross-site');
  await send('POST', 'http://proxied.example', 'same-origin');
  for (const Origin of ['http://localhost:5173', 'null']) {
    for (const method of ['OPTIONS', 'POST']) await send(method, Origin, 'same-site');
  }
  await send('POST', 'http://simple.example', 'cross-site');

  await expect.poll(() => service.output).toContain('CORS_ORIGIN=http://simple.example');
  const warned = [...service.output.matchAll(/ WARN Scripts of (.*) may not call .*: (.{5})/g)];
  expect(warned.map(([, origin, advice]) => [origin, advice])).toEqual([
    ['http://localhost:5173', 'start'],
    ['a page without an origin, such as a file,', 'open '],
    ['http://simple.example', 'start'],
  ]);
});

test('a connection stays open for longer than those of a proxy', async () => {
  expect((await request(`${baseUrl}/nowhere`)).headers['keep-alive']).toBe('timeout=65');
});
