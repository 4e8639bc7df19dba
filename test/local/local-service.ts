import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreePort } from '../support/free-port.ts';
import { request } from '../support/http-client.ts';

const projectFolder = resolve(import.meta.dirname, '../..');
const serverless = join(projectFolder, 'node_modules/serverless/bin/serverless.js');

/** Several services may start at once on two busy cores. */
const startTimeoutMs = 60_000;

/** The default settings of services in these tests. */
export const testSettings = {
  SECRET_TOKEN: 'a secret that only these tests know and nothing else',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: "it's a password",
};

/** A command that has ended. */
export interface EndedCommand {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Starts a command, and collects standard output and standard error. */
export function startCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = '.',
  input: string | Buffer = '',
) {
  const child = spawn(process.execPath, args, { cwd, env });
  child.stdin.on('error', () => {}).end(input);
  const command = {
    child,
    output: '',
    ended: once(child, 'close').then(
      (): EndedCommand => ({ exitCode: child.exitCode, output: command.output }),
    ),
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      command.output += text;
    });
  }
  return command;
}

/** A running `serverless offline`, the command of `npm start`, on a free port. */
export class LocalService {
  readonly baseUrl: string;
  readonly port: number;
  readonly #command: ReturnType<typeof startCommand>;

  private constructor(port: number, environment: NodeJS.ProcessEnv, folder = projectFolder) {
    this.port = port;
    this.baseUrl = `http://127.0.0.1:${port}`;
    // The developer's settings belong to the developer's books.
    const { DB_URL: _url, DB_PATH: _path, CORS_ORIGIN: _origin, ...inherited } = process.env;
    const env = { ...inherited, ...testSettings, ...environment };
    this.#command = startCommand([serverless, 'offline', '--httpPort', String(port)], env, folder);
  }

  /**
   * Starts a service and waits until it is ready.
   *
   * @param environment - variables on top of this process's and {@link testSettings}
   * @param folder - the folder of the service
   */
  static async start(environment: NodeJS.ProcessEnv, folder?: string): Promise<LocalService> {
    const service = new LocalService(await findFreePort(), environment, folder);
    const deadline = Date.now() + startTimeoutMs;
    while (!service.output.includes('Stop it with Ctrl-C')) {
      if (service.#command.child.exitCode !== null || Date.now() > deadline) {
        await service.kill();
        throw new Error(`the service did not start:\n${service.output}`);
      }
      await new Promise((done) => setTimeout(done, 50));
    }
    return service;
  }

  /** Runs a start that is expected to fail until it ends. */
  static async fail(environment: NodeJS.ProcessEnv, port?: number): Promise<EndedCommand> {
    const service = new LocalService(port ?? (await findFreePort()), environment);
    const timer = setTimeout(() => service.kill(), startTimeoutMs);
    const ended = await service.#command.ended;
    clearTimeout(timer);
    return ended;
  }

  /** The process of the service, and of its database unless DB_URL names another. */
  get processId(): number {
    return this.#command.child.pid ?? Number.NaN;
  }

  get output(): string {
    return this.#command.output;
  }

  /** Ends the service like Ctrl-C or a process manager. */
  async stop(signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM'): Promise<EndedCommand> {
    this.#command.child.kill(signal);
    return this.#command.ended;
  }

  /** Kills the service, like a power failure. */
  async kill(): Promise<void> {
    this.#command.child.kill('SIGKILL');
    await this.#command.ended;
  }
}

/** Logs in and returns the header for the protected endpoints. */
export async function authorize(
  baseUrl: string,
  { AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings,
): Promise<{ Authorization: string }> {
  const login = JSON.stringify({ username, password });
  const { envelope } = await request(`${baseUrl}/token`, { method: 'POST', body: login });
  return { Authorization: (envelope.data as { token: string }).token };
}

/** Makes an empty folder for the data of a service. */
export async function createDataFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'book-catalog-'));
}
