import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { chromium, type Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { operations } from '../../conformance/contract/description.ts';
import { defaultCredentials } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const local = await useLocalService(defaultCredentials);

test.each([
  ['/docs', 'text/html', 'serverless/local/page/index.html'],
  ['/docs/', 'text/html', 'serverless/local/page/index.html'],
  ['/docs/swagger-ui.css', 'text/css', 'node_modules/swagger-ui-dist/swagger-ui.css'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript', 'node_modules/swagger-ui-dist/swagger-ui-bundle.js'],
])('%s is of type %s and holds the file %s', async (path, type, file) => {
  const response = await fetch(local.baseUrl + path);

  expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
  expect(await response.text()).toBe(await readFile(file, 'utf8'));
});

test('/openapi.yaml is the file, with the address that it comes from as its only server', async () => {
  const response = await fetch(`${local.baseUrl}/openapi.yaml`);

  expect(response.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
  const served = parse(await response.text());
  expect(served).toEqual({ ...parse(await readFile('openapi.yaml', 'utf8')), servers: [{ url: '/' }] });
});

test('the reference page loads nothing of others, and no page shows it in a frame, where a click could send requests', async () => {
  const { headers } = await fetch(`${local.baseUrl}/docs`);

  const policy = headers.get('content-security-policy')?.split('; ');
  expect(policy).toContain("default-src 'none'");
  // A browser ignores this directive in a meta element.
  expect(policy).toContain("frame-ancestors 'none'");
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

/** Executes an operation with what the page has filled in. @returns the body of its response */
async function execute(page: Page, operation: string) {
  const block = page.locator(`[id$="-${operation}"]`);
  await block.locator('.opblock-summary-control').click();
  // The example is filled in a moment after the operation is opened.
  for (const body of await block.locator('textarea').all()) {
    await expect.poll(() => body.inputValue()).not.toBe('');
  }
  await block.locator('.execute').click();
  return JSON.parse((await block.locator('.live-responses-table .microlight').first().textContent()) ?? '');
}

// Without Chromium it is reported as skipped.
test.skipIf(executablePath === undefined)(
  'in a browser, little is above the operations, and the token of a login and the open operation stay after a reload',
  { timeout: 300_000 },
  async () => {
    // A container's root has no sandbox.
    const browser = await chromium.launch({ executablePath: executablePath ?? '', chromiumSandbox: false });
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'dark' });
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(`${local.baseUrl}/docs`);
    await page.locator('.opblock').last().waitFor();
    const places = await Promise.all((await page.locator('.opblock').all()).map((each) => each.boundingBox()));

    const loggedIn = await execute(page, 'createToken');
    const created = await execute(page, 'createBook');
    await page.reload();
    await page.locator('.is-open[id$="-createBook"]').waitFor();
    const listed = await execute(page, 'listBooks');
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const dark = await background();
    await page.emulateMedia({ colorScheme: 'light' });

    const bottoms = places.map((place) => Number(place?.y) + Number(place?.height));
    expect(bottoms).toHaveLength(operations.length);
    expect(Math.max(...bottoms)).toBeLessThan(600 + 50 * operations.length);
    expect(loggedIn).toMatchObject({ status: 200, message: 'Token generated successfully' });
    expect(created).toMatchObject({ status: 201, data: { title: 'Dune' } });
    expect(listed).toMatchObject({ status: 200, data: [created.data] });
    expect(dark).toBe('rgb(28, 32, 34)');
    await expect.poll(background).not.toBe(dark);
    expect(problems).toEqual([]);
  },
);
