import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const projectFolder = resolve(import.meta.dirname, '../..');

/**
 * Packages the service as a deploy does, without credentials. Two packagings at a time would mix, because the framework
 * uses one folder for all, `.serverless`.
 *
 * @param folder - where the template and the zips go
 * @param stage - the stage to package for
 * @param params - overrides of serverless/stages.yml, such as `corsOrigin=https://docs.example.com`
 * @param checkout - the folder of the service, by default this one
 */
export async function packageService(
  folder: string,
  stage = 'prod',
  params: readonly string[] = [],
  checkout = projectFolder,
): Promise<void> {
  const framework = join(checkout, 'node_modules/serverless/bin/serverless.js');
  const options = ['--stage', stage, '--package', folder, ...params.flatMap((param) => ['--param', param])];
  const unset = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
  const env = { ...process.env, ...unset };
  await promisify(execFile)(process.execPath, [framework, 'package', ...options], { cwd: checkout, env });
}
