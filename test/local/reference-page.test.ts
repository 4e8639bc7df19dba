import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import axe from 'axe-core';
import { type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { forgeToken } from '../../conformance/forge-token.ts';
import { defaultCredentials } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

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

const desktop = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const;
const telephone = { viewport: { width: 375, height: 800 }, colorScheme: 'dark', isMobile: true } as const;

/** Room for a browser on a busy machine. */
const waiting = { timeout: 20_000 };
const testTimeoutMs = 300_000;

/** Opens the page, with a check at the end of the test that it had no error and asked no other service. */
async function openPage(look: BrowserContextOptions) {
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
  await expect.poll(() => session.textContent(), waiting).toBe('Not logged in');
  return { page, session, problems, origins };
}

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, target: Locator) {
  for (let pressed = 0; pressed < 300; pressed += 1) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target}`);
}

/** Opens an operation with the keyboard, if it is closed, and executes it for this book. */
async function execute(page: Page, operation: string, id: number | string = '') {
  const block = page.locator(`#operations-${operation}`);
  if ((await block.locator('.execute').count()) === 0) {
    await tabTo(page, block.locator('.opblock-summary-control'));
    await page.keyboard.press('Enter');
  }
  // The example is filled in a moment after the operation is opened.
  for (const body of await block.locator('textarea').all()) {
    await expect.poll(() => body.inputValue(), waiting).not.toBe('');
  }
  for (const input of await block.locator('[data-param-name="id"] input').all()) await input.fill(String(id));
  await tabTo(page, block.locator('.execute'));
  await page.keyboard.press('Enter');
  const response = block.locator('.live-responses-table tbody');
  await response.waitFor();
  return {
    block,
    readStatus: async () => (await response.locator('.response-col_status').first().textContent())?.trim().slice(0, 3),
    readHeaders: () => response.locator('.headerline').allTextContents(),
    readBody: async () => JSON.parse((await response.locator('.microlight').first().textContent()) ?? ''),
    url: await block.locator('.request-url pre').textContent(),
  };
}

/** Violations that keep people from using the page, as Axe finds them. */
async function findSeriousViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as axe.AxeResults;
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

// Without Chromium these are reported as skipped.
const testInBrowser = test.skipIf(executablePath === undefined);

testInBrowser.each([
  ['a desktop, light', desktop],
  ['a telephone, dark', telephone],
] as const)(
  'on %s, the keyboard alone logs in, creates, lists and fetches with a tag',
  async (_name, look) => {
    const { page, session, problems, origins } = await openPage(look);
    const login = page.locator('#login button');
    await tabTo(page, login);
    await page.keyboard.press('Enter');
    await expect.poll(() => session.textContent(), waiting).toMatch(/^Logged in until /);

    const created = await execute(page, 'Books-createBook');
    expect(await created.readStatus()).toBe('201');
    const dune = { title: 'Dune', author: 'Frank Herbert', year: 1965 };
    const { data } = await created.readBody();
    expect(data).toMatchObject(dune);
    const listed = await execute(page, 'Books-listBooks');
    expect(listed.url).toBe(`${local.baseUrl}/books`);
    expect((await listed.readBody()).data).toContainEqual(data);

    const fetched = await execute(page, 'Books-getBook', data.id);
    expect(fetched.url).toBe(`${local.baseUrl}/book/${data.id}`);
    expect(await fetched.readStatus(), 'without a tag in If-None-Match').toBe('200');
    const tag = (await fetched.readHeaders()).find((line) => /^ *etag:/.test(line))?.replace(/^ *etag: */, '');
    await tabTo(page, fetched.block.locator('[data-param-name="If-None-Match"] input'));
    await page.keyboard.type(tag?.trim() ?? '');
    await execute(page, 'Books-getBook', data.id);
    await expect.poll(fetched.readStatus, waiting).toBe('304');

    expect(await findSeriousViolations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await page.locator('html.dark-mode').count()).toBe(look.colorScheme === 'dark' ? 1 : 0);
    expect(problems).toEqual([]);
    expect([...origins].filter((origin) => origin !== 'null')).toEqual([local.baseUrl]);
  },
  testTimeoutMs,
);

testInBrowser(
  'a token stays for the tab until the service refuses it, and every operation works',
  async () => {
    const { page, session } = await openPage(desktop);
    expect(await (await execute(page, 'Books-listBooks')).readStatus()).toBe('401');
    expect(await session.textContent()).toBe('Not logged in: Authorization token required');
    await page.locator('#login [name=password]').fill('wrong');
    await page.keyboard.press('Enter');
    await expect.poll(() => session.textContent(), waiting).toBe('Not logged in: Invalid credentials');

    await execute(page, 'Token-createToken');
    await expect.poll(() => session.textContent(), waiting).toMatch(/^Logged in until /);
    await page.reload();
    await expect.poll(() => session.textContent(), waiting).toMatch(/^Logged in until /);
    const { data } = await (await execute(page, 'Books-createBook')).readBody();
    for (const operation of ['listBooks', 'getBook', 'updateBook', 'deleteBook']) {
      const { readStatus } = await execute(page, `Books-${operation}`, data.id);
      expect(await readStatus(), operation).toBe('200');
    }

    const expired = forgeToken({ claims: { exp: 1 }, secret: 'another secret' });
    await page.evaluate(`sessionStorage.setItem('token', '${expired}')`);
    await page.reload();
    expect(await (await execute(page, 'Books-listBooks')).readStatus()).toBe('401');
    expect(await session.textContent()).toBe('Not logged in: Invalid token');
  },
  testTimeoutMs,
);

testInBrowser('the introduction comes first, and its samples and lists are whole', async () => {
  const { page } = await openPage(desktop);
  const introduction = page.locator('.information-container');
  const description = (await readFile('openapi.yaml', 'utf8')).split('\n    ```\n');
  const samples = description.filter((_text, index) => index % 2 === 1).map((text) => `${text.trim()}\n`);

  expect(samples).toHaveLength(3);
  expect(await introduction.locator('pre code').allTextContents()).toEqual(
    samples.map((sample) => sample.replace('http://localhost:8080', local.baseUrl)),
  );
  expect(await introduction.locator('ol').count()).toBe(1);
  const [beside, operations] = [await introduction.boundingBox(), await page.locator('#operations').boundingBox()];
  expect(operations?.x).toBeGreaterThan((beside?.x ?? 0) + (beside?.width ?? 0) / 2);
  expect(operations?.y).toBeLessThan(300);
});
