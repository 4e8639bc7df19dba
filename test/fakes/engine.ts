import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createEngine } from '../../serverless/local/engine/engine-server.ts';
import { close, listen } from '../support/loopback-server.ts';

/** A DynamoDB engine. */
export interface Engine {
  /** Its origin, the endpoint of DB_URL. */
  readonly endpoint: string;
  /** Stops it and breaks its open connections. */
  stop(): Promise<void>;
}

/**
 * Gives the engine that most tests run against: the one at TEST_DYNAMODB_ENDPOINT (another implementation of DynamoDB,
 * which `stop` leaves running), or else one in this process.
 */
export async function provideEngine(): Promise<Engine> {
  const endpoint = process.env.TEST_DYNAMODB_ENDPOINT;
  if (endpoint === undefined) return startEngine();
  return { endpoint, async stop() {} };
}

/** Starts an engine in this process, with its data in a folder or in memory, on a loopback port, by default a free one. */
export async function startEngine(path?: string, port = 0) {
  const onFailure = (error: Error) => {
    throw error;
  };
  // That of all engines and clients in tests.
  const accessKeyId = String(process.env.AWS_ACCESS_KEY_ID);
  const { server, closeStore } = await createEngine({ accessKeyId, path, onFailure });
  const chosen = await listen(server, port);
  return {
    server,
    port: chosen,
    endpoint: `http://127.0.0.1:${chosen}`,
    async stop() {
      await close(server);
      await closeStore();
    },
  };
}

/** Starts an engine in a child process, with its data in a folder, and waits until it listens. */
export async function startEngineProcess(path: string, port = 0) {
  const child = spawn(process.execPath, [import.meta.filename, path, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = await Promise.race([once(child.stdout, 'data'), exited]);
  if (typeof line === 'number') throw new Error(`the engine ended with exit code ${line}`);
  return {
    port: Number(line),
    /** Kills it, like a power failure. */
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

if (process.argv[1] === import.meta.filename) {
  const [path, port] = process.argv.slice(2);
  console.log((await startEngine(path, Number(port))).port);
}
