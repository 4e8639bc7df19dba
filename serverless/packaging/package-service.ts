import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

const projectFolder = resolve(import.meta.dirname, '../..');
const service = parse(readFileSync(join(projectFolder, 'serverless.yml'), 'utf8'), { logLevel: 'silent' });

/** The memory of each function, in MB. */
export const { memorySize }: { readonly memorySize: number } = service.provider;

/** A function in serverless.yml, and the route of its requests. */
export interface ServiceFunction {
  readonly name: string;
  readonly handler: string;
  readonly event: { readonly method: string; readonly path: string };
  /** The options of its Node: those of Lambda, which limit the heap by the function's memory, then its own. */
  readonly nodeOptions: string;
}

const percentOfMemory = (percent: number) => Math.floor((memorySize * percent) / 100);
const lambdaNodeOptions = [
  '--expose-gc',
  `--max-semi-space-size=${percentOfMemory(5)}`,
  `--max-old-space-size=${percentOfMemory(90)}`,
];

export const functions: readonly ServiceFunction[] = Object.keys(service.functions).map((name) => {
  const { handler, events, environment = {} } = service.functions[name];
  const [{ http }] = events;
  const [method, path] = typeof http === 'string' ? http.split(' ') : [http.method, http.path];
  const nodeOptions = [...lambdaNodeOptions, environment.NODE_OPTIONS ?? []].flat().join(' ');
  return { name, handler, event: { method, path }, nodeOptions };
});

export const functionNames = functions.map(({ name }) => name);

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
  // Without the developer's credentials and Node for code caches.
  const {
    AWS_ACCESS_KEY_ID: _id,
    AWS_SECRET_ACCESS_KEY: _key,
    CODE_CACHE_NODE: _node,
    ...environment
  } = process.env;
  const framework = join(checkout, 'node_modules/serverless/bin/serverless.js');
  const options = ['--stage', stage, '--package', folder, ...params.flatMap((param) => ['--param', param])];
  await promisify(execFile)(process.execPath, [framework, 'package', ...options], {
    cwd: checkout,
    env: environment,
  });
}
