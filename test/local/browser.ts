import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where distributions put the browser; the environment variable CHROMIUM names another place. */
const candidates = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The Chromium of this machine, or `undefined`. */
export const chromium = [process.env.CHROMIUM ?? '', ...candidates].find((path) => existsSync(path));

/** It calls nobody but the page's own service. A container's root has no sandbox. */
const options = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
];

/** How a page is looked at. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
}

/** A message of the Chrome DevTools Protocol, as far as it is used here. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params: { readonly request?: { readonly url: string } };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A page in a Chromium without a window, driven over the Chrome DevTools Protocol. */
export class BrowserPage {
  /** The origins that the page has sent requests to. */
  readonly origins = new Set<string>();
  /** What the page has reported: exceptions, and errors on the console, such as refusals by its security policy. */
  readonly problems: string[] = [];
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (message: Message) => void>();

  private constructor(process: ChildProcess, folder: string, socket: WebSocket) {
    this.#process = process;
    this.#folder = folder;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(data)));
  }

  /**
   * Opens a page.
   *
   * @param url - its address
   * @param look - size of the window in CSS pixels, and the colour scheme that the user prefers
   */
  static async open(url: string, { width, height, scheme }: Look): Promise<BrowserPage> {
    const folder = await mkdtemp(join(tmpdir(), 'book-catalog-browser-'));
    const process = spawn(chromium ?? '', [...options, `--user-data-dir=${folder}`, 'about:blank']);
    const port = await debuggingPort(process);
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket(targets.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? '');
    await once(socket, 'open');
    const page = new BrowserPage(process, folder, socket);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.#send(`${domain}.enable`);
    const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
    await page.#send('Emulation.setDeviceMetricsOverride', metrics);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await page.#send('Emulation.setEmulatedMedia', { features });
    await page.#send('Page.navigate', { url });
    return page;
  }

  /**
   * Evaluates an expression in the page.
   *
   * @returns its value, which has to be one that JSON has
   * @throws an Error when the expression throws
   */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = (await this.#send('Runtime.evaluate', {
      expression,
      returnByValue: true,
    })) as { result: { value?: unknown }; exceptionDetails?: object };
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return result.value;
  }

  /** Writes what the page looks like, all of it, to a PNG file. */
  async screenshot(file: string): Promise<void> {
    const { cssContentSize } = (await this.#send('Page.getLayoutMetrics')) as { cssContentSize: object };
    const { data } = (await this.#send('Page.captureScreenshot', {
      captureBeyondViewport: true,
      clip: { ...cssContentSize, scale: 1 },
    })) as { data: string };
    await writeFile(file, data, 'base64');
  }

  async close(): Promise<void> {
    this.#socket.close();
    const ended = once(this.#process, 'close');
    this.#process.kill();
    await ended;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #send(method: string, params = {}): Promise<unknown> {
    return new Promise((done, fail) => {
      const id = this.#pending.size + 1;
      this.#pending.set(id, ({ result, error }) => (error ? fail(new Error(error.message)) : done(result)));
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #receive(message: Message): void {
    const { id, method, params } = message;
    if (id !== undefined) this.#pending.get(id)?.(message);
    if (method === 'Network.requestWillBeSent') this.origins.add(new URL(params.request?.url ?? '').origin);
    if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded') {
      this.problems.push(JSON.stringify(params));
    }
  }
}

/** Chromium says on standard error which port it has chosen. */
function debuggingPort(process: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let output = '';
    process.on('close', () => fail(new Error(`Chromium did not start:\n${output}`)));
    process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const port = /ws:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port !== undefined) done(port);
    });
  });
}
