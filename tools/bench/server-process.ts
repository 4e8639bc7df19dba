import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { benchCore } from './cores.ts';

/** A server in a process of its own, on the core of the bench. */
export interface ServerProcess {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/**
 * Starts a server that prints its port, and that ends when its standard input does.
 *
 * @param file - the module to run
 * @param args - its arguments
 */
export async function startServer(file: string, args: readonly string[] = []): Promise<ServerProcess> {
  const [command = '', ...prefix] = benchCore;
  const child = spawn(command, [...prefix, process.execPath, file, ...args], {
    // The server ends when this pipe does, so that a bench that crashes leaves none behind.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = await once(createInterface(child.stdout), 'line');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}
