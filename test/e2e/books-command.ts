import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { EndedCommand } from './local-service.ts';
import { testSettings } from './local-service.ts';

const script = resolve(import.meta.dirname, '../../tools/books/main.ts');

const credentials = {
  BOOKS_USERNAME: testSettings.AUTH_USERNAME,
  BOOKS_PASSWORD: testSettings.AUTH_PASSWORD,
};

/** A running `npm run books`, without npm. */
export class BooksCommand {
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<EndedCommand>;
  readonly #process: ChildProcess;

  /**
   * @param args - its arguments
   * @param environment - variables on top of this process's and the credentials of the service
   */
  constructor(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    this.#process = spawn(process.execPath, [script, ...args], {
      env: { ...process.env, ...credentials, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
export function runBooks(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<EndedCommand> {
  return new BooksCommand(args, environment).ended;
}

/**
 * Waits until a journal tells of a number of created books.
 *
 * @param path - the journal
 * @param count - how many
 */
export async function waitForCreated(path: string, count: number): Promise<void> {
  while ((await countCreated(path)) < count) await new Promise((done) => setTimeout(done, 10));
}

/** How many books a journal tells of. */
export async function countCreated(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.match(/"id":/g)?.length ?? 0;
}
