import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { readRoutes } from './api-gateway/http-events.ts';
import type { HttpEvent } from './framework-types.ts';

const file = resolve(import.meta.dirname, '../serverless.yml');
const service = parse(readFileSync(file, 'utf8'), { logLevel: 'silent' });

/** The name of the service, with which the names of its stacks and of their resources begin. */
export const serviceName: string = service.service;

/** The memory of each function, in MB. */
export const { memorySize }: { readonly memorySize: number } = service.provider;

/** A function in serverless.yml. API Gateway invokes each, for its one route. */
interface ServiceFunction {
  readonly name: string;
  readonly handler: string;
  /** Its actions on the book table, like `GetItem`. */
  readonly tableActions: readonly string[] | undefined;
  /** In seconds. */
  readonly timeout: number;
  readonly event: HttpEvent;
}

export const functions: readonly ServiceFunction[] = Object.keys(service.functions).map((name) => {
  const { handler, tableActions, timeout = service.provider.timeout } = service.functions[name];
  const [route, ...others] = readRoutes(service.functions[name]);
  if (route === undefined || others.length > 0) throw new Error(`${name} in serverless.yml needs one HTTP event`);
  return { name, handler, tableActions, timeout, event: route };
});

export const functionNames = functions.map(({ name }) => name);

/** The functions that use the book table. */
export const tableFunctions = functions.filter(({ tableActions = [] }) => tableActions.length > 0);

/** @returns the start of the logical ids that the framework gives to the resources of a function */
export function toLogicalId(functionName: string): string {
  return functionName.replace(/^./, (letter) => letter.toUpperCase());
}
