import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BrowserPage, chromium, type Look } from './browser.ts';
import { createDataFolder, LocalService } from './local-service.ts';

let dataFolder: string;
let service: LocalService;

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({
    DB_PATH: dataFolder,
    AUTH_USERNAME: 'admin',
    AUTH_PASSWORD: 'password',
  });
});

afterAll(async () => {
  await service?.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

test('the description is served as it is in the repository', async () => {
  const response = await fetch(`${service.baseUrl}/openapi.yaml`);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
  expect(await response.text()).toBe(await readFile('openapi.yaml', 'utf8'));
});

test('the reference page and all that it loads come from the service', async () => {
  const page = await fetch(`${service.baseUrl}/docs`);
  const html = await page.text();
  const addresses = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="(?!data:)([^"]+)"/g)].map(
    ([, address = '']) => address,
  );

  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(html).toContain("default-src 'none'");
  expect(addresses).toHaveLength(4);
  for (const address of addresses) {
    const response = await fetch(new URL(address, page.url));
    expect(address).toMatch(/^\/docs\//);
    expect(response.status, address).toBe(200);
    expect(response.headers.get('content-type'), address).toMatch(/^text\/(css|javascript); charset=utf-8$/);
  }
});

test.each(['POST', 'PUT', 'DELETE'])('%s /docs is not found', async (method) => {
  const response = await fetch(`${service.baseUrl}/docs`, { method });

  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ status: 404, message: 'Not found', data: null });
});

/** Room for a browser on a busy machine. */
const waiting = { timeout: 20_000 };

const isFilledIn = (block: string) =>
  `[...document.querySelectorAll('${block} textarea')].every(({ value }) => value !== '')`;

/** An operation of the page, and the path and the status that it ends with. */
type Call = readonly [operation: string, path: string, status: string];

const calls: readonly Call[] = [
  ['Token-createToken', '/token', '200'],
  ['Books-createBook', '/book', '201'],
  ['Books-listBooks', '/books', '200'],
  ['Books-getBook', '/book/1', '200'],
  ['Books-updateBook', '/book/1', '200'],
  ['Books-deleteBook', '/book/1', '200'],
];

const desktop: Look = { width: 1280, height: 900, scheme: 'light' };
const telephone: Look = { width: 390, height: 844, scheme: 'dark' };

// Without Chromium these are reported as skipped.
describe.skipIf(chromium === undefined).each<[string, Look, readonly Call[]]>([
  ['a desktop, light', desktop, calls],
  ['a telephone, dark', telephone, calls.slice(0, 3)],
])('in Chromium on %s', (name, look, calls) => {
  test('a login shows, and every call works with its token', async () => {
    const page = await BrowserPage.open(`${service.baseUrl}/docs`, look);
    const text = (selector: string) => page.evaluate(`document.querySelector('${selector}')?.textContent`);
    const click = (selector: string) =>
      vi.waitFor(() => page.evaluate(`document.querySelector('${selector}').click()`), waiting);
    try {
      await vi.waitFor(async () => expect(await text('#session')).toMatch(/^Not logged in/), waiting);
      for (const [operation, path, status] of calls) {
        const block = `#operations-${operation}`;
        await click(`${block} .opblock-summary-control`);
        // The example is filled in a moment after the operation is opened.
        await vi.waitFor(() => page.evaluate(isFilledIn(block)).then((filled) => assert(filled)), waiting);
        await click(`${block} .execute`);
        const live = `${block} .live-responses-table tbody .response-col_status`;
        await vi.waitFor(async () => expect(await text(live), path).toBe(status), waiting);
        expect(await text(`${block} .request-url pre`)).toBe(service.baseUrl + path);
        expect(await text('#session')).toMatch(/^Logged in until /);
      }

      expect(await text('#operations-Books-createBook .live-responses-table .microlight')).toMatch(
        /"data": \{\s+"id": \d,\s+"title": "Dune",\s+"author": "Frank Herbert",\s+"year": 1965/,
      );
      expect(await text('.information-container')).toContain(`curl ${service.baseUrl}/books`);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await page.evaluate(`document.documentElement.classList.contains('dark-mode')`)).toBe(
        look.scheme === 'dark',
      );
      expect(page.problems).toEqual([]);
      expect([...page.origins].filter((origin) => origin !== 'null')).toEqual([service.baseUrl]);
      const { SCREENSHOTS } = process.env;
      if (SCREENSHOTS) await page.screenshot(`${SCREENSHOTS}/${name.replaceAll(/\W+/g, '-')}.png`);
    } finally {
      await page.close();
    }
  });
});
