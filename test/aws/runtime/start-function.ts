import { join } from 'node:path';
import { inject } from 'vitest';
import { functions } from '../../../serverless/packaging/package-service.ts';
import { type LambdaInstance, startLambdaInstance } from '../../../tools/runtime/lambda-instance.ts';

/** The settings of the functions that {@link startFunction} starts. */
export const settings = {
  SECRET_TOKEN: 'a secret that only these tests know and nothing else',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: 'a password',
};

/**
 * Starts an instance of a packaged function under the options of its Node in Lambda.
 *
 * @param name - as in serverless.yml
 * @param environment - further environment variables, such as DB_URL
 * @param functionsFolder - has a sub-folder for each unpacked function
 */
export function startFunction(
  name: string,
  environment: NodeJS.ProcessEnv,
  functionsFolder = inject('functionsFolder'),
): Promise<LambdaInstance> {
  const definition = functions.find((one) => one.name === name);
  if (definition === undefined) throw new Error(`serverless.yml has no function ${name}`);
  return startLambdaInstance(join(functionsFolder, name), definition.handler, {
    NODE_OPTIONS: definition.nodeOptions,
    ...settings,
    ...environment,
  });
}
