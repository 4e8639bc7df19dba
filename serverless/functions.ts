import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { readHttpEvent } from './framework.ts';

const file = resolve(import.meta.dirname, '../serverless.yml');
const service = parse(readFileSync(file, 'utf8'), { logLevel: 'silent' });

/** The memory of each function, in MB. */
export const { memorySize }: { readonly memorySize: number } = service.provider;

/** A function in serverless.yml, and the route of its requests. */
export interface ServiceFunction {
  readonly name: string;
  readonly handler: string;
  readonly event: { readonly method: string; readonly path: string };
  /** Its actions on the book table, like `GetItem`. */
  readonly tableActions: readonly string[] | undefined;
  /** The options of its Node. First come Lambda's, which limit the heap by the function's memory. */
  readonly nodeOptions: string;
}

const percentOfMemory = (percent: number) => Math.floor((memorySize * percent) / 100);

/** As /var/runtime/bootstrap of Lambda's Node runtime sets them. */
const lambdaNodeOptions = [
  '--expose-gc',
  `--max-semi-space-size=${percentOfMemory(5)}`,
  `--max-old-space-size=${percentOfMemory(90)}`,
];

export const functions: readonly ServiceFunction[] = Object.keys(service.functions).map((name) => {
  const { handler, events, tableActions, environment } = service.functions[name];
  if (events.length !== 1) throw new Error(`${name} in serverless.yml has to have one event`);
  const { method, path } = readHttpEvent(events[0].http);
  const { NODE_OPTIONS: ownOptions } = { ...service.provider.environment, ...environment };
  // `!If`, whose first value is that of AWS's own partition.
  const nodeOptions = [...lambdaNodeOptions, ownOptions[1]].join(' ');
  return { name, handler, event: { method, path }, tableActions, nodeOptions };
});

export const functionNames = functions.map(({ name }) => name);

/** The functions that use the book table. */
export const tableFunctions = functions.filter(({ tableActions = [] }) => tableActions.length > 0);
