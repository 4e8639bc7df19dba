import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import type { Outcome } from '../outcomes.ts';

/** JSON with one example, or with several by name. */
interface JsonDescription {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface HeaderDescription {
  readonly required?: boolean;
  readonly schema: { readonly type?: string };
  readonly example?: unknown;
}

/** A described response; `content` is absent when it has no body. */
export interface ResponseDescription {
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
  readonly content?: { readonly 'application/json': JsonDescription };
}

type Responses = Readonly<Record<string, ResponseDescription>>;

interface Parameter {
  readonly name: string;
  /** `path`, `query` or `header`. */
  readonly in: string;
}

interface OperationObject {
  readonly summary: string;
  /** Empty when anyone may call it; otherwise absent, and a token is required. */
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': JsonDescription } };
  readonly responses: Responses;
}

/** The operations of a path by their methods, and the parameters of all of them. */
type PathItem = Readonly<Record<string, OperationObject>> & { readonly parameters?: readonly Parameter[] };

const source = parse(readFileSync(resolve(import.meta.dirname, '../../openapi.yaml'), 'utf8'));

/**
 * openapi.yaml, as far as the tests use it, with each `$ref` replaced by what it names. Its objects are closed here: clients
 * have to accept members that are added later, and the tests find members that are not described.
 */
export const description = resolveReferences(source) as {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly responses: Responses; readonly schemas: Readonly<Record<'EmptyEnvelope', object>> };
};

/** Every operation; its route is method and path template, such as `GET /book/{id}`. */
export const operations = Object.entries(description.paths).flatMap(([path, { parameters: shared = [], ...methods }]) =>
  Object.entries(methods).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    isPublic: isPublic(operation.security ?? source.security ?? []),
    parameters: [...shared, ...(operation.parameters ?? [])],
    bodySchema: operation.requestBody?.content['application/json'].schema,
    bodyExamples: Object.values(examplesOf(operation.requestBody)),
    responses: operation.responses,
    success: findSuccess(operation.responses),
  })),
);

/** Anyone may call without a requirement, or when one is empty. */
function isPublic(security: readonly object[]): boolean {
  return security.length === 0 || security.some((each) => Object.keys(each).length === 0);
}

/** One method of one path. */
type Operation = (typeof operations)[number];

/** Makes the pattern of the requests of a route like `GET /book/{id}`, with a group for each parameter. */
export function makePattern(route: string): RegExp {
  return new RegExp(`^${route.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]*)')}$`);
}

/** A request to each operation, with this id in its path and this body where it takes one. */
export function requestEach(id: number | string, body: string) {
  return operations.map(({ route, method, path, isPublic, bodySchema }) => {
    const request = { method, path: path.replaceAll(/\{\w+\}/g, String(id)), ...(bodySchema && { body }) };
    return { route, isPublic, request };
  });
}

/** The operation of a route. */
export function getOperation(route: string): Operation {
  const found = operations.find((operation) => operation.route === route);
  if (found === undefined) throw new Error(`openapi.yaml has no ${route}`);
  return found;
}

/** Finds the operation that a request asks for; `path` may have a query. */
export function findOperation(method: string, path: string): Operation | undefined {
  const pathname = path.replace(/\?.*/s, '').replace(/(?<=.)\/$/, '');
  return operations.find(({ route }) => makePattern(route).test(`${method} ${pathname}`));
}

/** The examples of a request or response body, by name. */
export function examplesOf(described?: Pick<ResponseDescription, 'content'>): Record<string, unknown> {
  const { example, examples } = described?.content?.['application/json'] ?? {};
  if (examples === undefined) return example === undefined ? {} : { example };
  return Object.fromEntries(Object.entries(examples).map(([name, { value }]) => [name, value]));
}

/** The status and the message of the examples of a success. */
function findSuccess(responses: Responses): Outcome | undefined {
  const [status = ''] = Object.keys(responses).filter((each) => each.startsWith('2'));
  const [example] = Object.values(examplesOf(responses[status])) as Outcome[];
  return example && { status: example.status, message: example.message };
}

/** Replaces each `$ref` by what it names, and closes each object schema. */
function resolveReferences(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, member) => {
    if (member?.properties !== undefined) return { ...member, additionalProperties: false };
    if (member?.$ref === undefined) return member;
    const keys: string[] = member.$ref.replace('#/', '').split('/');
    const target = keys.reduce((from, key) => from?.[key], source);
    if (target === undefined) throw new Error(`openapi.yaml has no ${member.$ref}`);
    return resolveReferences(target);
  });
}
