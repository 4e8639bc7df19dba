import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createDataFolder, testSettings } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

// A change in the project itself would also reload every other service under test.
const folder = createDataFolder();
const copy = join(folder, 'a project');
await mkdir(copy);
afterAll(() => rm(folder, { recursive: true, force: true }));
const projectFolder = resolve(import.meta.dirname, '../..');
for (const name of ['handlers', 'lib', 'serverless', 'serverless.yml', 'package.json'])
  await cp(join(projectFolder, name), join(copy, name), { recursive: true });
await symlink(join(projectFolder, 'node_modules'), join(copy, 'node_modules'));

const local = await useLocalService({ NODE_OPTIONS: '--inspect=127.0.0.1:0' }, copy);
await local.send('POST', '/book', { title: 'Emma' });

async function change(file: string, from: string, to: string): Promise<void> {
  const path = join(copy, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

async function get(path: string): Promise<{ message: string; data: unknown }> {
  const response = await fetch(local.baseUrl + path, { headers: local.headers });
  return response.json() as Promise<{ message: string; data: unknown }>;
}

/** Waits until a change is in the responses. */
async function expectMessage(path: string, message: string): Promise<void> {
  await expect.poll(async () => (await get(path)).message).toBe(message);
}

const expectOutput = (text: RegExp) => expect.poll(() => local.service.output).toMatch(text);

test('a change in lib is in the next responses, and the books are still there', async () => {
  await change('lib/http/outcomes.ts', "'Book not found'", "'No such book'");

  await expectMessage('/book/7', 'No such book');

  expect((await get('/book/1')).data).toMatchObject({ title: 'Emma' });
});

test('a change that takes long to load does not replace a later one', async () => {
  const gate = join(folder, 'gate');
  const file = join(copy, 'handlers/get-book.ts');
  const text = await readFile(file, 'utf8');
  const withMessage = (message: string) => text.replace('Book retrieved successfully', message);
  const slow = `import { existsSync } from 'node:fs';
console.log('The first save loads');
while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 10));
setTimeout(() => console.log('The first save was loaded'), 500);
`;
  await writeFile(file, slow + withMessage('The first save'));
  await expectOutput(/^The first save loads$/m);
  await writeFile(file, withMessage('The second save'));
  await expectMessage('/book/1', 'The second save');

  await writeFile(gate, '');
  await expectOutput(/^The first save was loaded$/m);

  expect((await get('/book/1')).message).toBe('The second save');
  await writeFile(file, text);
  await expectMessage('/book/1', 'Book retrieved successfully');
});

test('a syntax error is printed with its place, and the last good version keeps running', async () => {
  await change('handlers/get-book.ts', 'export const handler', 'export const const handler');

  await expectOutput(/cannot be loaded/);

  expect(local.service.output).toMatch(/handlers\/get-book\.ts:\d+/);
  expect(local.service.output).not.toContain('node:internal');
  expect((await get('/book/1')).message).toBe('Book retrieved successfully');
  await change('handlers/get-book.ts', 'export const const handler', 'export const handler');
});

test.each([
  ['a syntax error', '- http: POST /token', '- http: [POST /token', /YAMLParseError: .* at line \d+/],
  ['a misspelt file', 'handlers/get-book.', 'handlers/getbook.', /Cannot find module '.*handlers\/getbook\.ts/],
  ['a misspelt export', 'get-book.handler', 'get-book.handle', /handlers\/get-book\.handle, the handler of getBook/],
])('serverless.yml with %s is reported, and the last good version keeps running', async (_fault, from, to, message) => {
  await change('serverless.yml', from, to);

  await expectOutput(new RegExp(`cannot be loaded; the version before it still runs: .*${message.source}`));

  expect((await get('/book/1')).message).toBe('Book retrieved successfully');
  await change('serverless.yml', to, from);
});

test('a change of serverless.yml is in the next responses, also when git has replaced it before', async () => {
  const file = join(copy, 'serverless.yml');
  const text = await readFile(file, 'utf8');
  for (const path of ['/tome', '/opus', '/volume']) {
    await rm(file);
    await writeFile(file, text.replace('http: GET /book/{id}', `http: GET ${path}/{id}`));

    await expectMessage(`${path}/1`, 'Book retrieved successfully');
  }

  expect((await get('/book/1')).message).toBe('Not found');
});

test('a status that is not a number is named', async () => {
  await change('handlers/get-book.ts', 'status: 200', "status: '200'");

  await expectMessage('/volume/1', 'Bad gateway');

  await expectOutput(/The function returned a response whose statusCode is not a whole number: '200'/);
  await change('handlers/get-book.ts', "status: '200'", 'status: 200');
  await expectMessage('/volume/1', 'Book retrieved successfully');
});

test('a breakpoint stays at its line of a file after a save', async () => {
  const file = join(copy, 'handlers/get-book.ts');
  const lines = (await readFile(file, 'utf8')).split('\n');
  const [url = ''] = /ws:\S+/.exec(local.service.output) ?? [];
  const debug = new WebSocket(url);
  await once(debug, 'open');
  const send = (method: string, params = {}) => debug.send(JSON.stringify({ id: 1, method, params }));
  let stops = 0;
  debug.onmessage = ({ data }) => {
    if (JSON.parse(data).method !== 'Debugger.paused') return;
    stops += 1;
    send('Debugger.resume');
  };
  send('Debugger.enable');
  const lineNumber = lines.findIndex((line) => line.includes('const { book'));
  send('Debugger.setBreakpointByUrl', { url: pathToFileURL(file).href, lineNumber });
  await change('handlers/get-book.ts', "'Book retrieved successfully'", "'Book found'");
  await expectMessage('/volume/1', 'Book found');
  const before = stops;

  await get('/volume/1');

  expect(stops).toBe(before + 1);
  debug.close();
  await change('handlers/get-book.ts', "'Book found'", "'Book retrieved successfully'");
  await expectMessage('/volume/1', 'Book retrieved successfully');
});

test('each request is one short line, and an error comes with its stack', async () => {
  await fetch(`${local.baseUrl}/volume/7?secret=no`, { headers: local.headers });

  await expectOutput(/\n\d\d:\d\d:\d\d GET \/volume\/7 404 \d+\.\d ms /);

  await change('handlers/get-book.ts', 'books.get(', 'void boom(');

  await expectMessage('/volume/1', 'Internal server error');
  await expectOutput(/ReferenceError: boom is not defined\n +at (.* \()?handlers\/get-book\.ts:\d+/);
});

const hasNamespaces = spawnSync('unshare', ['-Ur', 'true']).status === 0;

test.skipIf(!hasNamespaces)('without file watches, the service runs, and says when it loads changes', async () => {
  const limited = 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$0" serverless/main.js offline --port 0';
  const env = { ...process.env, ...testSettings, DB_URL: undefined, DB_PATH: join(folder, 'books') };
  const child = spawn('unshare', ['-Ur', 'sh', '-c', limited, process.execPath], { env });
  onTestFinished(() => void child.kill());
  const printed: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  await expect.poll(() => printed.join('')).toContain('Stop it with Ctrl-C');

  expect(printed.join('')).toMatch(
    /^\S+ WARN Saved changes are loaded at the next start only: EMFILE: .*\n\nBook Catalog/,
  );
});

test('Ctrl-C ends the service, even in an endless loop in a handler', async () => {
  await change('handlers/get-book.ts', 'const { book,', 'for (;;);\nconst { book,');
  const signal = () => AbortSignal.timeout(2_000);
  const respond = () => fetch(`${local.baseUrl}/volume/1`, { headers: local.headers, signal: signal() });
  await expect.poll(() => respond().catch(({ name }: Error) => name)).toBe('TimeoutError');

  await local.service.stop('SIGINT');
});
