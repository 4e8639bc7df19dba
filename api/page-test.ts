/**
 * `npm run test:docs`: builds the reference page, starts a service that allows its origin, and uses the page in Chromium
 * as a person would: log in, create a book, list, fetch, change and delete it. Exit code 77 without Chromium.
 */

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDataFolder, LocalService } from '../test/e2e/local-service.ts';
import { launchBrowser, type Page } from './browser.ts';
import { makeReferencePage } from './reference-page.ts';

/** In the order in which they stand on the page, but for the deletion; each with what it ends with. */
const calls = [
  ['POST', '/token', 200],
  ['POST', '/book', 201],
  ['GET', '/books', 200],
  ['GET', '/book/1', 200],
  ['PUT', '/book/1', 200],
  ['DELETE', '/book/1', 200],
] as const;

const browser = await launchBrowser();
if (browser === undefined) {
  console.log(
    'There is no Chromium on this machine (CHROMIUM names one elsewhere): the page was not tested.',
  );
  process.exitCode = 77;
} else {
  try {
    await testPage(await browser.newPage({ viewport: { width: 1400, height: 1000 } }));
  } finally {
    await browser.close();
  }
}

async function testPage(page: Page): Promise<void> {
  let html = '';
  const site = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html);
  });
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
  const origin = `http://localhost:${(site.address() as AddressInfo).port}`;
  const dataFolder = await createDataFolder();
  const service = await LocalService.start({
    DB_PATH: dataFolder,
    CORS_ORIGIN: origin,
    AUTH_USERNAME: 'admin',
    AUTH_PASSWORD: 'password',
  });
  try {
    html = await makeReferencePage(service.baseUrl);
    await usePage(page, origin, service.baseUrl);
    console.log(
      `the page renders, asks nobody but the service, and all ${calls.length} calls work: 1 passed, 0 failed`,
    );
  } finally {
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
    site.closeAllConnections();
    site.close();
  }
}

async function usePage(page: Page, origin: string, baseUrl: string): Promise<void> {
  const asked = new Set<string>();
  const problems: string[] = [];
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(origin);
  await page
    .getByRole('heading', { name: /^Book Catalog$/ })
    .first()
    .waitFor();

  for (const [method, path, status] of calls) {
    const shown = path.replace('/1', '/\\{id\\}');
    const button = new RegExp(`Test Request\\s*\\(${method} ${shown}\\)`, 'i');
    await page.getByRole('button', { name: button }).first().click();
    const send = page.getByRole('button', { name: /^Send/ }).first();
    const answered = page.waitForResponse(
      (response) => response.url().startsWith(baseUrl) && response.request().method() === method,
    );
    await send.click();
    const response = await answered;
    assert.equal(response.status(), status, `${method} ${path}`);
    assert.equal(new URL(response.url()).pathname, path);
    // The page sends the default of `after`, and no `limit`: all books.
    assert.equal(new URL(response.url()).searchParams.get('limit'), null);
    // The panel cancels what it still reads when it is closed.
    await page
      .getByRole('link', { name: new RegExp(`^${status} `) })
      .first()
      .waitFor();
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${method}${path.replaceAll('/', '-')}.png` });
    await page.keyboard.press('Escape');
    await send.waitFor({ state: 'hidden' });
  }

  assert.deepEqual(problems, []);
  assert.deepEqual([...asked].filter((one) => one !== 'null').sort(), [origin, baseUrl].sort());
}
