import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { readHttpEvent } from '../framework.ts';

const projectFolder = resolve(import.meta.dirname, '../..');
const service = parse(readFileSync(join(projectFolder, 'serverless.yml'), 'utf8'), { logLevel: 'silent' });

/** The memory of each function, in MB. */
export const { memorySize }: { readonly memorySize: number } = service.provider;

/** A function in serverless.yml, and the route of its requests. */
export interface ServiceFunction {
  readonly name: string;
  readonly handler: string;
  readonly event: { readonly method: string; readonly path: string };
  /** Its actions on the book table, like `GetItem`; required, so that nobody forgets them. */
  readonly tableActions: readonly string[] | undefined;
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
  const { handler, events, tableActions, environment = {} } = service.functions[name];
  if (events.length !== 1) throw new Error(`${name} in serverless.yml has to have one event`);
  const { method, path } = readHttpEvent(events[0].http);
  const nodeOptions = [...lambdaNodeOptions, environment.NODE_OPTIONS ?? []].flat().join(' ');
  return { name, handler, event: { method, path }, tableActions, nodeOptions };
});

export const functionNames = functions.map(({ name }) => name);

/** The functions that use the book table. */
export const tableFunctions = functions.filter(({ tableActions = [] }) => tableActions.length > 0);

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
