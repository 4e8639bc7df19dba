import type { LambdaInstance } from '../../test/aws/runtime/lambda-instance.ts';

/**
 * Invokes a function and reads its answer to the end.
 *
 * @param instance - an instance
 * @param event - the event
 * @throws an Error when the function failed or gave another status than 2xx
 */
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
