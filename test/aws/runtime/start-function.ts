import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { functions, memorySize } from '../../../serverless/functions.ts';
import { testSettings } from '../../support/local-service.ts';
import { type LambdaInstance, startLambdaInstance } from './lambda-instance.ts';

const percentOfMemory = (percent: number) => Math.floor((memorySize * percent) / 100);

/** As /var/runtime/bootstrap of Lambda's Node runtime sets them. */
const nodeOptions = [
  '--expose-gc',
  `--max-semi-space-size=${percentOfMemory(5)}`,
  `--max-old-space-size=${percentOfMemory(90)}`,
].join(' ');

/**
 * Starts an instance of a packaged function under the options of its Node in Lambda.
 *
 * @param name - as in serverless.yml
 * @param environment - further environment variables, such as DB_URL
 */
export function startFunction(name: string, environment: NodeJS.ProcessEnv): Promise<LambdaInstance> {
  const definition = functions.find((one) => one.name === name);
  if (definition === undefined) throw new Error(`serverless.yml has no function ${name}`);
  return startLambdaInstance(join(inject('functionsFolder'), name), definition.handler, {
    NODE_OPTIONS: nodeOptions,
    ...testSettings,
    ...environment,
  });
}

/** As {@link startFunction}, until the end of the current test. */
export async function startForTest(...args: Parameters<typeof startFunction>): Promise<LambdaInstance> {
  const instance = await startFunction(...args);
  onTestFinished(() => instance.stop());
  return instance;
}
