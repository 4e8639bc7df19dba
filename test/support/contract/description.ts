import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

/** A described response. `$ref` has been replaced by what it names. */
export interface ResponseDescription {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
  /** Absent when the response has no body. */
  readonly content?: {
    readonly 'application/json': {
      readonly schema: object;
      readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    };
  };
}

interface HeaderDescription {
  readonly required?: boolean;
  readonly schema: object;
  readonly example?: unknown;
}

/** A parameter of an operation. */
interface ParameterDescription {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly schema: object;
}

/** One method of one path. */
export interface Operation {
  /** Method and path template, such as `GET /book/{id}`. */
  readonly route: string;
  readonly parameters: readonly ParameterDescription[];
  readonly bodySchema?: object | undefined;
  readonly bodyExamples: readonly unknown[];
  readonly responses: Readonly<Record<string, ResponseDescription>>;
}

/** openapi.yaml, as far as the tests use it. */
interface Description {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly responses: Readonly<Record<string, ResponseDescription>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

type PathItem = Readonly<Record<string, OperationObject>> & {
  readonly parameters?: readonly ParameterDescription[];
};

interface OperationObject {
  readonly parameters?: readonly ParameterDescription[];
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: object;
        readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
      };
    };
  };
  readonly responses: Readonly<Record<string, ResponseDescription>>;
}

const source: unknown = parse(readFileSync(resolve(import.meta.dirname, '../../../openapi.yaml'), 'utf8'));

/** openapi.yaml with each `$ref` replaced by what it names. */
export const description = resolveReferences(source) as Description;

/** Every operation. */
export const operations: readonly Operation[] = Object.entries(description.paths).flatMap(
  ([path, { parameters: shared = [], ...methods }]) =>
    Object.entries(methods as Readonly<Record<string, OperationObject>>).map(
      ([method, { parameters = [], requestBody, responses }]) => {
        const body = requestBody?.content['application/json'];
        return {
          route: `${method.toUpperCase()} ${path}`,
          parameters: [...shared, ...parameters],
          bodySchema: body?.schema,
          bodyExamples: Object.values(body?.examples ?? {}).map(({ value }) => value),
          responses,
        };
      },
    ),
);

/**
 * Finds the operation that a request asks for.
 *
 * @param method - the HTTP method
 * @param path - the path, with or without a query
 * @returns the operation, or `undefined` when none is described
 */
export function findOperation(method: string, path: string): Operation | undefined {
  const [pathname = ''] = path.split('?');
  const template = /^\/book\/[^/]+$/.test(pathname) ? '/book/{id}' : pathname;
  return operations.find(({ route }) => route === `${method} ${template}`);
}

function resolveReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolveReferences);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return resolveReferences(follow(String(value.$ref)));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolveReferences(member)]));
}

function follow(reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>>)[key], source);
}
