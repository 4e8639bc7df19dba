import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { defaultCredentials } from '../support/local-service.ts';
import { useLocalService } from './use-local-service.ts';

const local = await useLocalService(defaultCredentials);

test.each([
  ['/openapi.yaml', 'application/yaml', 'openapi.yaml'],
  ['/docs', 'text/html', 'serverless/local/docs/index.html'],
  ['/docs/', 'text/html', 'serverless/local/docs/index.html'],
  ['/docs/page.css', 'text/css', 'serverless/local/docs/page.css'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript', 'node_modules/swagger-ui-dist/swagger-ui-bundle.js'],
])('%s is of type %s and holds the file %s', async (path, type, file) => {
  const response = await fetch(local.baseUrl + path);

  expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
  expect(await response.text()).toBe(await readFile(file, 'utf8'));
});

test('a browser is led from / to the reference page; other clients and methods get 404', async () => {
  const accept = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  expect((await fetch(local.baseUrl, { headers: accept })).url).toBe(`${local.baseUrl}/docs`);
  const notFound = { status: 404, message: 'Not found', data: null };
  expect((await local.send('GET', '/')).envelope).toEqual(notFound);
  for (const method of ['POST', 'PUT', 'DELETE'])
    expect((await local.send(method, '/docs')).envelope).toEqual(notFound);
});

/** Where distributions install the browser; the environment variable CHROMIUM names another place. */
const executablePath = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => process.env.CHROMIUM ?? `/usr/bin/${name}`)
  .find((path) => existsSync(path));

const desktop = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const;
const telephone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true } as const;

/** Room for a browser on a busy machine. */
const waiting = { timeout: 20_000 };

/** Operations of the page, with the path and the status of their response. */
const calls = [
  ['Token-createToken', '/token', '200'],
  ['Books-createBook', '/book', '201'],
  ['Books-listBooks', '/books', '200'],
  ['Books-getBook', '/book/1', '200'],
  ['Books-updateBook', '/book/1', '200'],
  ['Books-deleteBook', '/book/1', '200'],
] as const;

// Without Chromium these are reported as skipped.
test.skipIf(executablePath === undefined).each([
  ['a desktop, light', desktop, calls],
  ['a telephone, dark', telephone, calls.slice(0, 3)],
] as const)('in Chromium on %s, a login shows, and every call works with its token', async (_name, look, calls) => {
  // A container's root has no sandbox.
  const browser = await chromium.launch({ executablePath: executablePath ?? '', chromiumSandbox: false });
  onTestFinished(() => browser.close());
  const page = await browser.newPage(look);
  const origins = new Set<string>();
  const problems: string[] = [];
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(`${local.baseUrl}/docs`);
  const session = page.locator('#session');
  await expect.poll(() => session.textContent(), waiting).toMatch(/^Not logged in/);

  const [login] = calls;
  const box = await page.locator(`#operations-${login[0]}`).boundingBox();
  expect(box?.y).toBeLessThan(300);

  for (const [operation, path, status] of calls) {
    const block = page.locator(`#operations-${operation}`);
    await block.locator('.opblock-summary-control').click();
    // The example is filled in a moment after the operation is opened.
    for (const body of await block.locator('textarea').all()) {
      await expect.poll(() => body.inputValue(), waiting).not.toBe('');
    }
    await block.locator('.execute').click();
    const response = block.locator('.live-responses-table tbody .response-col_status').first();
    await response.waitFor();
    expect(await response.textContent(), path).toContain(status);
    expect(await block.locator('.request-url pre').textContent()).toBe(local.baseUrl + path);
    await expect.poll(() => session.textContent(), waiting).toMatch(/^Logged in until /);
  }

  const created = page.locator('#operations-Books-createBook .live-responses-table .microlight').first();
  const dune = { id: expect.any(Number), title: 'Dune', author: 'Frank Herbert', year: 1965 };
  expect(JSON.parse((await created.textContent()) ?? '')).toMatchObject({ data: dune });
  const introduction = await page.locator('.information-container').first().textContent();
  expect(introduction).toContain(`curl ${local.baseUrl}/books`);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await page.locator('html.dark-mode').count()).toBe(look.colorScheme === 'dark' ? 1 : 0);
  expect(problems).toEqual([]);
  expect([...origins].filter((origin) => origin !== 'null')).toEqual([local.baseUrl]);
});
