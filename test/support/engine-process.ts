import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A DynamoDB engine in a process of its own, which can be killed. */
export class EngineProcess {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  /**
   * Starts an engine and waits until it listens.
   *
   * @param path - the folder of its data
   * @param port - where to listen; a free port by default
   */
  static async start(path: string, port = 0): Promise<EngineProcess> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'run-engine.ts'), path, String(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [
      Buffer | number,
    ];
    if (typeof line === 'number') throw new Error(`the engine ended with exit code ${line}`);
    return new EngineProcess(child, Number(line));
  }

  /** Ends it as a power cut does. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    if (this.#process.signalCode === null) await once(this.#process, 'exit');
  }
}
