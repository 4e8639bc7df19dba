import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The part of a page in playwright-core that the test uses. */
export interface Page {
  on(event: 'request', listener: (request: { url(): string }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void;
  goto(url: string): Promise<unknown>;
  getByRole(role: string, options: { readonly name: RegExp }): Locator;
  waitForResponse(matches: (response: PageResponse) => boolean): Promise<PageResponse>;
  screenshot(options: { readonly path: string }): Promise<unknown>;
  readonly keyboard: { press(key: string): Promise<void> };
}

/** An answer that a page got. */
interface PageResponse {
  status(): number;
  url(): string;
  request(): { method(): string };
  json(): Promise<{ readonly data: unknown }>;
}

interface Locator {
  first(): Locator;
  click(): Promise<void>;
  waitFor(options?: { readonly state: 'hidden' }): Promise<void>;
}

interface Browser {
  newPage(options: { readonly viewport: { readonly width: number; readonly height: number } }): Promise<Page>;
  close(): Promise<void>;
}

/** Where distributions put the browser; CHROMIUM names another place. */
const candidates = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** It speaks to nobody but the page's own service. A container's root has no sandbox. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
];

/**
 * Starts the Chromium of this machine, without a window.
 *
 * @returns the browser, or `undefined` when there is none
 */
export async function launchBrowser(): Promise<Browser | undefined> {
  const { CHROMIUM } = process.env;
  const executablePath = [...(CHROMIUM ? [CHROMIUM] : []), ...candidates].find((path) => existsSync(path));
  if (executablePath === undefined) return undefined;
  const { chromium } = createRequire(import.meta.url)('playwright-core');
  return chromium.launch({ executablePath, args: quiet });
}
