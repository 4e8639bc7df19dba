import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { LambdaInstance } from '../runtime/lambda-instance.ts';

/** Invokes a function and reads its response to the end. */
export async function invoke({ api }: LambdaInstance, event: unknown) {
  const { statusCode, body } = await api.invoke(event);
  return { statusCode, body: await text(body) };
}

/** Invokes a function several times. @throws an Error unless the status is always 2xx */
export async function invokeTimes(instance: LambdaInstance, event: unknown, times: number): Promise<void> {
  for (let call = 0; call < times; call += 1) {
    const { statusCode, body } = await invoke(instance, event);
    if (statusCode > 299) throw new Error(`the function failed: ${statusCode} ${body}\n${instance.output}`);
  }
}

/** @returns the CPU time of all threads of an instance so far, in milliseconds, as the scheduler accounts it */
export function readCpuMs({ pid }: LambdaInstance): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6;
}
