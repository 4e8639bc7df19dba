import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import dynalite from 'dynalite';
import { close, listen } from './loopback-server.ts';

/** A DynamoDB engine. */
export interface Engine {
  readonly port: number;
  /** Its origin, the endpoint of DB_URL. */
  readonly endpoint: string;
  /** Stops it and breaks its open connections. */
  stop(): Promise<void>;
}

/** `port`: a free one by default; `path`: the folder of its data, in memory by default. */
type EngineOptions = Readonly<{ port?: number; path?: string }>;

/**
 * Gives the engine that most tests run against: the one at TEST_DYNAMODB_ENDPOINT (another implementation of DynamoDB,
 * which `stop` leaves running), or else one in this process.
 */
export async function provideEngine(): Promise<Engine> {
  const endpoint = process.env.TEST_DYNAMODB_ENDPOINT;
  if (endpoint === undefined) return startEngine();
  return { endpoint, port: Number(new URL(endpoint).port), async stop() {} };
}

/** Starts an engine in this process, on a loopback port. */
export async function startEngine({ port = 0, path }: EngineOptions = {}): Promise<Engine> {
  const server = dynalite({ createTableMs: 0, ...(path && { path }) });
  const chosen = await listen(server, port);
  return { port: chosen, endpoint: `http://127.0.0.1:${chosen}`, stop: () => close(server) };
}

/** A DynamoDB engine in a child process. */
export class EngineProcess {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  /** Starts an engine with its data in a folder, and waits until it listens. */
  static async start(path: string, port = 0): Promise<EngineProcess> {
    const child = spawn(process.execPath, [import.meta.filename, path, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    if (typeof line === 'number') throw new Error(`the engine ended with exit code ${line}`);
    return new EngineProcess(child, Number(line));
  }

  /** Kills it, like a power failure. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    if (this.#process.signalCode === null) await once(this.#process, 'exit');
  }
}

if (process.argv[1] === import.meta.filename) {
  const [path = '', port] = process.argv.slice(2);
  console.log((await startEngine({ path, port: Number(port) })).port);
}
