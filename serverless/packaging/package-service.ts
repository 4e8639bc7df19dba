import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const projectFolder = resolve(import.meta.dirname, '../..');

/**
 * Packages the service as a deploy does, without credentials. Not at the same time as another packaging: the framework
 * puts all of them together in `.serverless`.
 *
 * @param folder - where the template and the zips go
 * @param stage - the stage to package for
 * @param params - overrides of serverless/stages.yml, such as `corsOrigin=https://docs.example.com`
 * @param checkout - the folder of the service; this one by default
 */
export async function packageService(
  folder: string,
  stage = 'prod',
  params: readonly string[] = [],
  checkout = projectFolder,
): Promise<void> {
  const framework = join(checkout, 'node_modules/serverless/bin/serverless.js');
  const options = ['--stage', stage, '--package', folder, ...params.flatMap((param) => ['--param', param])];
  // Without the developer's credentials.
  const unset = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
  const env = { ...process.env, ...unset };
  await promisify(execFile)(process.execPath, [framework, 'package', ...options], { cwd: checkout, env });
}
