import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { EndedCommand } from './local-service.ts';
import { testSettings } from './local-service.ts';

const script = resolve(import.meta.dirname, '../../tools/books/main.ts');

const credentials = {
  BOOKS_USERNAME: testSettings.AUTH_USERNAME,
  BOOKS_PASSWORD: testSettings.AUTH_PASSWORD,
};

interface CommandOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer;
}

/** A running `npm run books`, without npm. */
export class BooksCommand {
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<EndedCommand>;
  readonly #process: ChildProcess;

  /**
   * @param args - its arguments
   * @param options - variables on top of this process's and the credentials of the service; what standard input holds
   */
  constructor(args: readonly string[], { environment = {}, input = '' }: CommandOptions = {}) {
    this.#process = spawn(process.execPath, [script, ...args], {
      env: { ...process.env, ...credentials, ...environment },
      stdio: 'pipe',
    });
    this.#process.stdin?.end(input);
    let output = '';
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    this.ended = once(this.#process, 'close').then(() => ({ exitCode: this.#process.exitCode, output }));
  }

  /**
   * Sends a signal and waits for the end.
   *
   * @param signal - SIGKILL as a power cut, SIGINT as Ctrl-C
   */
  async end(signal: 'SIGKILL' | 'SIGINT'): Promise<EndedCommand> {
    this.#process.kill(signal);
    return this.ended;
  }
}

/** Runs a command to its end. */
export function runBooks(args: readonly string[], options?: CommandOptions): Promise<EndedCommand> {
  return new BooksCommand(args, options).ended;
}
