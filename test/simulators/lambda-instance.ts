import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { RuntimeApi } from './runtime-api.ts';

const runtimeClient = resolve(import.meta.dirname, '../aws/runtime/node_modules/aws-lambda-ric/index.mjs');

/** One instance of a function: a bundle under AWS's runtime client, with a Runtime API of its own. */
export class LambdaInstance {
  readonly api: RuntimeApi;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = '';

  private constructor(
    api: RuntimeApi,
    taskRoot: string,
    handler: string,
    environment: NodeJS.ProcessEnv,
    launcher: readonly string[],
  ) {
    this.api = api;
    const [command = '', ...args] = [...launcher, process.execPath, runtimeClient, handler];
    this.#process = spawn(command, args, {
      cwd: taskRoot,
      env: {
        PATH: process.env.PATH,
        AWS_LAMBDA_RUNTIME_API: api.address,
        AWS_LAMBDA_FUNCTION_NAME: 'test',
        AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
        AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/test',
        AWS_LAMBDA_LOG_STREAM_NAME: 'test',
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        LAMBDA_TASK_ROOT: taskRoot,
        _HANDLER: handler,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    this.#exited = once(this.#process, 'close').then(() => {
      api.fail(new Error(`the instance exited with code ${this.#process.exitCode}:\n${this.#output}`));
    });
  }

  /**
   * Starts an instance.
   *
   * @param taskRoot - the folder of the unpacked function
   * @param handler - as in serverless.yml
   * @param environment - the function's environment variables
   * @param launcher - a command that replaces itself by the one that follows it, like `taskset`
   */
  static async start(
    taskRoot: string,
    handler: string,
    environment: NodeJS.ProcessEnv,
    launcher: readonly string[] = [],
  ): Promise<LambdaInstance> {
    return new LambdaInstance(await RuntimeApi.start(), taskRoot, handler, environment, launcher);
  }

  /** The process of the instance, for measurements. */
  get pid(): number {
    return this.#process.pid ?? Number.NaN;
  }

  /** Everything that the function wrote so far. */
  get output(): string {
    return this.#output;
  }

  /** Resolves with the exit code when the instance ends by itself. */
  async waitForExit(): Promise<number | null> {
    await this.#exited;
    return this.#process.exitCode;
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
    this.api.close();
  }
}
