import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { RuntimeApi } from './runtime-api.ts';

const runtimeClient = resolve(import.meta.dirname, '../../../tools/node_modules/aws-lambda-ric/index.mjs');

/** One instance of a function: a bundle under AWS's runtime client, with a Runtime API of its own. */
export type LambdaInstance = Awaited<ReturnType<typeof startLambdaInstance>>;

/**
 * Starts an instance.
 *
 * @param taskRoot - the folder of the unpacked function
 * @param handler - as in serverless.yml
 * @param environment - the function's environment variables
 * @param launcher - a command that replaces itself by the one that follows it, like `taskset`
 */
export async function startLambdaInstance(
  taskRoot: string,
  handler: string,
  environment: NodeJS.ProcessEnv,
  launcher: readonly string[] = [],
) {
  const api = await RuntimeApi.start();
  const [command = '', ...args] = [...launcher, process.execPath, runtimeClient, handler];
  const child = spawn(command, args, {
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
  let output = '';
  const collect = (text: string) => {
    output += text;
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', collect);
  const exited = once(child, 'close').then(() => {
    api.fail(new Error(`the instance exited with code ${child.exitCode}:\n${output}`));
  });
  return {
    api,
    /** The process of the instance, for measurements. */
    pid: child.pid ?? Number.NaN,
    /** Everything that the function wrote so far. */
    get output() {
      return output;
    },
    /** Resolves when the instance has ended by itself. */
    waitForExit: () => exited,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      await api.close();
    },
  };
}

/** @returns the peak of an instance's physical memory so far, in MB (2^20 bytes) */
export function readPeakMemoryMb({ pid }: LambdaInstance): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
