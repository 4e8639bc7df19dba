import { readdirSync, readFileSync } from 'node:fs';
import type { LambdaInstance } from '../runtime/lambda-instance.ts';

/** Invokes a function and reads its response to the end. @throws an Error unless the status is 2xx */
export async function invoke(instance: LambdaInstance, event: unknown): Promise<void> {
  const result = await instance.api.invoke(event);
  if (result.kind === 'stream') {
    for await (const _ of result.stream);
    return;
  }
  const { statusCode = 0 } = (result.kind === 'response' ? result.payload : {}) as { statusCode?: number };
  if (statusCode < 200 || statusCode > 299) {
    throw new Error(`the function failed: ${JSON.stringify(result)}\n${instance.output}`);
  }
}

/** @returns the CPU time of all threads of an instance so far, in milliseconds, as the scheduler accounts it */
export function readCpuMs({ pid }: LambdaInstance): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}
