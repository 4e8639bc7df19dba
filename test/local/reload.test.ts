import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createDataFolder } from '../../tools/local/local-service.ts';
import { useLocalService } from './use-local-service.ts';

/** Room for a busy machine; a reload takes about a tenth of a second. */
const noticed = { timeout: 20_000, interval: 50 };

// A change in the project itself would also reload every other service under test.
const copy = createDataFolder();
afterAll(() => rm(copy, { recursive: true, force: true }));
const projectFolder = resolve(import.meta.dirname, '../..');
for (const name of ['handlers', 'lib', 'serverless', 'serverless.yml', 'package.json'])
  await cp(join(projectFolder, name), join(copy, name), { recursive: true });
await symlink(join(projectFolder, 'node_modules'), join(copy, 'node_modules'));

const local = await useLocalService({}, copy);
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
  await expect.poll(async () => (await get(path)).message, noticed).toBe(message);
}

const expectOutput = (text: RegExp) => expect.poll(() => local.service.output, noticed).toMatch(text);

test('a change in lib is in the next responses, and the books are still there', async () => {
  await change('lib/http/outcomes.ts', "'Book not found'", "'No such book'");

  await expectMessage('/book/7', 'No such book');

  expect((await get('/book/1')).data).toMatchObject({ title: 'Emma' });
});

test('files in a new folder, and those that editors and git replace, are watched too', async () => {
  await mkdir(join(copy, 'lib/greetings'));
  const path = join(copy, 'lib/greetings/greeting.ts');
  const write = (file: string, message: string) => writeFile(file, `export const greeting = '${message}';`);
  await write(path, 'Hello');
  await change('lib/http/outcomes.ts', "'No such book'", 'greeting');
  await change('lib/http/outcomes.ts', '', "import { greeting } from '../greetings/greeting.ts';\n");
  await expectMessage('/book/7', 'Hello');

  for (const message of ['Once', 'Twice']) {
    await write(`${path}.new`, message);
    await rename(`${path}.new`, path);

    await expectMessage('/book/7', message);
  }
});

test('a syntax error is printed with its place, and the last good version keeps running', async () => {
  await change('handlers/get-book.ts', 'export const handler', 'export const const handler');

  await expectOutput(/cannot be loaded/);

  expect(local.service.output).toMatch(/handlers\/get-book\.ts:\d+/);
  expect((await get('/book/1')).message).toBe('Book retrieved successfully');
  await change('handlers/get-book.ts', 'export const const handler', 'export const handler');
});

test('a change of serverless.yml is in the next responses', async () => {
  await change('serverless.yml', 'http: GET /book/{id}', 'http: GET /volume/{id}');

  await expectMessage('/volume/1', 'Book retrieved successfully');

  expect((await get('/book/1')).message).toBe('Not found');
});

test('each request is one short line, and an error comes with its stack', async () => {
  await fetch(`${local.baseUrl}/volume/7?secret=no`, { headers: local.headers });

  await expectOutput(/\n\d\d:\d\d:\d\d GET \/volume\/7 404 \d+\.\d ms /);

  await change('handlers/get-book.ts', 'books.get(', 'void boom(');

  await expectMessage('/volume/1', 'Internal server error');
  await expectOutput(/ReferenceError: boom is not defined\n +at .*handlers\/get-book\.ts:\d+/);
});

test('Ctrl-C ends the service at once, even in an endless loop in a handler', async () => {
  await change('handlers/get-book.ts', 'const { book,', 'for (;;);\nconst { book,');
  const signal = () => AbortSignal.timeout(2_000);
  const respond = () => fetch(`${local.baseUrl}/volume/1`, { headers: local.headers, signal: signal() });
  await expect.poll(() => respond().catch(({ name }: Error) => name), noticed).toBe('TimeoutError');

  const startedAt = performance.now();
  await local.service.stop('SIGINT');

  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
