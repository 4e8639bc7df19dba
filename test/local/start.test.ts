import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { request } from '../../conformance/http-client.ts';
import type { FunctionSetting } from '../../lib/settings.ts';
import { localSettings } from '../../serverless/local/local-config.ts';
import { createDataFolder, LocalService, startCommand, testSettings } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

// The developer's settings belong to the developer's books.
const { DB_URL: _url, ...withoutOwn } = process.env;

const local = await useLocalService({ AUTH_PASSWORD: localSettings.password.default });
const { dataFolder, port } = local.service;

test('the two printed command lines log in and list the books', async () => {
  const { output } = local.service;
  const lines = output.split('\n').filter((line) => /^ {2}(TOKEN|curl)/.test(line));

  const { stdout } = await promisify(execFile)('sh', ['-c', lines.join('\n')]);

  expect(lines).toHaveLength(2);
  expect(stdout).toBe(JSON.stringify({ status: 200, message: 'Books retrieved successfully', data: [] }));
  expect(output.trimStart()).toMatch(/^Book Catalog is ready at /);
  expect(output).toContain(local.baseUrl);
  expect(output).toContain(dataFolder);
});

test('the warning of a refused preflight request names the setting that allows it', async () => {
  await fetch(`${local.baseUrl}/token`, { method: 'OPTIONS', headers: { Origin: 'http://localhost:5173' } });

  await expect.poll(() => local.service.output).toContain('start it with CORS_ORIGIN=http://localhost:5173 to allow');
});

const aws = { AWS_ACCESS_KEY_ID: '', DB_URL: 'https://dynamodb.eu-west-1.amazonaws.com/books' };
/** A wrong value of each setting. */
const wrongValues = Object.fromEntries(
  Object.values<FunctionSetting>(localSettings).map(({ variable, kind }) => [
    variable,
    kind.parse('-1', {}) === undefined ? '-1' : '',
  ]),
);

test.each<[string, Record<string, string>, readonly string[], number?]>([
  [
    'each setting that is empty or malformed',
    wrongValues,
    [...Object.keys(wrongValues).map((name) => `${name} is `), 'DB_URL is not the URL of a DynamoDB endpoint'],
  ],
  [
    'an engine that does not respond',
    { DB_URL: 'http://127.0.0.1:9/books' },
    ['ECONNREFUSED', 'Make sure that a DynamoDB engine with this table responds at http://127.0.0.1:9'],
  ],
  ['missing credentials of AWS', aws, ['Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY']],
  [
    'a data folder in use',
    { DB_PATH: dataFolder },
    [`The data folder ${dataFolder} cannot be used (IO error: lock `, 'this service in another terminal'],
  ],
  ['a port in use', {}, [`Port ${port} on 127.0.0.1 cannot be used (listen EADDRINUSE: `], port],
])('a start ends with one paragraph that names %s', async (_problem, environment, texts, port) => {
  const { exitCode, output } = await LocalService.fail(environment, port);

  // The framework prints a foreseen error as "Error:" and its message, an unforeseen one with its stack.
  const [, paragraph = ''] = output.split('Error:\n');
  expect(exitCode).toBe(1);
  for (const text of texts) expect(paragraph).toContain(text);
  expect(paragraph.trim()).not.toContain('\n');
});

test.each([
  [['--port', 'abc'], '"abc" is not a port, a number from 0 to 65535.'],
  [['--port=65536'], '"65536" is not a port, a number from 0 to 65535.'],
  [['--host', 'nope.invalid'], 'Port 8080 on nope.invalid cannot be used (getaddrinfo '],
])('a start with %j ends with one line that says what is wrong', async (options, message) => {
  const env = { ...withoutOwn, ...testSettings, DB_PATH: createDataFolder() };

  const { exitCode, output } = await startCommand(['serverless/main.js', 'offline', ...options], env).ended;

  const [, paragraph = ''] = output.split('Error:\n');
  expect(exitCode).toBe(1);
  expect(paragraph).toContain(message);
  expect(paragraph.trim()).not.toContain('\n');
});

test('a start that other machines can reach warns of known secrets, and prints addresses that browsers open', async () => {
  const env = { ...withoutOwn, ...testSettings, SECRET_TOKEN: undefined, DB_PATH: createDataFolder() };
  const args = ['serverless/main.js', 'offline', '--host', '0.0.0.0', '--port', '0'];
  const { child, readOutput, ended } = startCommand(args, env);
  await expect.poll(readOutput).toContain('Stop it with Ctrl-C');
  const [, port] = /ready at http:\/\/localhost:(\d+)/.exec(readOutput()) ?? [];
  const external = Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ family, internal }) => family === 'IPv4' && !internal);

  const response = await request(`http://127.0.0.1:${port}/books`, { headers: { Host: 'laptop.local' } });
  child.kill();
  await ended;

  expect(response.status).toBe(401);
  for (const { address } of external) expect(readOutput()).toContain(`\nNetwork: http://${address}:${port}\n`);
  expect(readOutput()).toMatch(/^\d\d:\d\d:\d\d WARN .* defaults that everybody knows: set SECRET_TOKEN\n/);
});

test("a start prints no password of the user's own, and says where it goes in the command", async () => {
  const own = { AUTH_USERNAME: "Ann O'Hara", AUTH_PASSWORD: 'correct horse battery staple' };
  const { output } = await (await LocalService.start(own)).stop();

  expect(output).not.toContain('horse');
  expect(output).toContain("Username: Ann O'Hara  Password: the one in AUTH_PASSWORD\n");
  expect(output).toContain(`-d '{"username":"Ann O'\\''Hara","password":"YOUR PASSWORD"}'`);
});

test('a start whose output nobody reads ends quietly at its next line', async () => {
  const env = { ...withoutOwn, ...testSettings, DB_PATH: createDataFolder() };
  const { child, readOutput, ended } = startCommand(['serverless/main.js', 'offline', '--port', '0'], env);
  await expect.poll(readOutput).toContain('Stop it with Ctrl-C');
  const [, port] = /ready at http:\/\/127.0.0.1:(\d+)/.exec(readOutput()) ?? [];
  child.stdout.destroy();

  await request(`http://127.0.0.1:${port}/books`);
  const { exitCode, output } = await ended;

  expect(exitCode).toBe(0);
  expect(output.trimEnd()).toMatch(/Stop it with Ctrl-C\.$/);
});
