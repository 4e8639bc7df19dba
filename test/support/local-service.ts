import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { forgeToken } from '../../conformance/forge-token.ts';
import type { FunctionSetting } from '../../lib/settings.ts';
import { localSettings } from '../../serverless/local/local-config.ts';
import { findFreePort } from './free-port.ts';

const projectFolder = resolve(import.meta.dirname, '../..');
const serverless = join(projectFolder, 'node_modules/serverless/bin/serverless.js');

/** Several services may start at once on two busy cores. */
const startTimeoutMs = 60_000;

/** The defaults of all settings but DB_URL. */
const defaults = Object.fromEntries(
  Object.values<FunctionSetting>(localSettings).flatMap(({ variable, default: text }) =>
    text === undefined ? [] : [[variable, text]],
  ),
);

/** The default settings of services in these tests. */
export const testSettings = {
  SECRET_TOKEN: 'a secret that only these tests know and nothing else',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: "it's a password",
};

/** The defaults of `npm start`, as in the examples of the documents. */
export const defaultCredentials = { AUTH_USERNAME: 'admin', AUTH_PASSWORD: 'password' };

/** A valid token for these services. Each of its parts is long enough to be found in an output. */
export const validToken = forgeToken({
  claims: { aud: 'tests of the local service' },
  secret: testSettings.SECRET_TOKEN,
});

/** Starts a command, and collects standard output and standard error. */
export function startCommand(args: readonly string[], env: NodeJS.ProcessEnv, cwd = '.', input?: Buffer) {
  const child = spawn(process.execPath, args, { cwd, env });
  child.stdin.on('error', () => {}).end(input ?? '');
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  }
  const readOutput = () => printed.join('');
  const ended = once(child, 'close').then(() => ({ exitCode: child.exitCode, output: readOutput() }));
  return { child, readOutput, ended };
}

/** A running `serverless offline`, the command of `npm start`, on a free port. */
export class LocalService {
  readonly baseUrl: string;
  readonly port: number;
  /** The folder of its database, unless its environment or TEST_DYNAMODB_ENDPOINT names another. {@link stop} removes it. */
  readonly dataFolder = createDataFolder();
  readonly #command: ReturnType<typeof startCommand>;

  private constructor(port: number, environment: NodeJS.ProcessEnv, folder = projectFolder) {
    this.port = port;
    this.baseUrl = `http://127.0.0.1:${port}`;
    // The developer's settings belong to the developer's books. Variables go before the file .env.
    const { DB_URL: _url, ...inherited } = process.env;
    const engine = process.env.TEST_DYNAMODB_ENDPOINT;
    const data = engine ? { DB_URL: `${engine}/${basename(this.dataFolder)}` } : { DB_PATH: this.dataFolder };
    const env = { ...inherited, ...defaults, ...testSettings, ...data, ...environment };
    this.#command = startCommand([serverless, 'offline', '--port', String(port)], env, folder);
  }

  /** Starts a service with these variables on top of {@link testSettings}, and waits until it is ready. */
  static async start(environment: NodeJS.ProcessEnv = {}, folder?: string) {
    const service = new LocalService(await findFreePort(), environment, folder);
    const deadline = Date.now() + startTimeoutMs;
    while (!service.output.includes('Stop it with Ctrl-C')) {
      if (service.#command.child.exitCode !== null || Date.now() > deadline) {
        await service.kill();
        throw new Error(`the service did not start:\n${service.output}`);
      }
      await wait(50);
    }
    return service;
  }

  /** Runs a start that is expected to fail until it ends. */
  static async fail(environment: NodeJS.ProcessEnv, port?: number) {
    const service = new LocalService(port ?? (await findFreePort()), environment);
    const timer = setTimeout(() => service.kill(), startTimeoutMs);
    await service.#command.ended;
    clearTimeout(timer);
    return service.stop();
  }

  /** The process of the service, and of its database unless DB_URL names another. */
  get processId() {
    return this.#command.child.pid ?? Number.NaN;
  }

  get output() {
    return this.#command.readOutput();
  }

  /** Ends the service like Ctrl-C or a process manager. */
  async stop(signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM') {
    this.#command.child.kill(signal);
    const ended = await this.#command.ended;
    rmSync(this.dataFolder, { recursive: true, force: true });
    return ended;
  }

  /** Kills the service, like a power failure. */
  async kill() {
    this.#command.child.kill('SIGKILL');
    await this.#command.ended;
  }
}

export const createDataFolder = () => mkdtempSync(join(tmpdir(), 'book-catalog-'));
