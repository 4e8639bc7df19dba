import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

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

interface OperationObject {
  readonly summary: string;
  /** Empty when anyone may call it; otherwise absent, and a token is required. */
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: { readonly 'application/json': JsonDescription } };
  readonly responses: Responses;
}

const source: unknown = parse(readFileSync(resolve(import.meta.dirname, '../../openapi.yaml'), 'utf8'));

/** openapi.yaml, as far as the tests use it, with each `$ref` replaced by what it names. */
export const description = resolveReferences(source, 'openapi.yaml') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly responses: Responses;
    readonly schemas: Readonly<Record<'EmptyEnvelope', object>>;
  };
};

/** Every operation; its route is method and path template, such as `GET /book/{id}`. */
export const operations = Object.entries(description.paths).flatMap(([path, { parameters, ...methods }]) =>
  Object.entries(methods).map(([method, operation]) => ({
    route: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    isPublic: operation.security?.length === 0,
    bodySchema: operation.requestBody?.content['application/json'].schema,
    bodyExamples: Object.values(examplesOf(operation.requestBody)),
    responses: operation.responses,
  })),
);

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

/** @param place - where the value is, for the error about a reference that leads nowhere */
function resolveReferences(value: unknown, place: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.map((member, index) => resolveReferences(member, `${place}, ${index}`));
  if (!('$ref' in value)) {
    const members = Object.entries(value).map(([key, member]) => [
      key,
      resolveReferences(member, `${place} > ${key}`),
    ]);
    return Object.fromEntries(members);
  }
  const keys = String(value.$ref).replace('#/', '').split('/');
  const target = keys.reduce((from, key) => (from as Record<string, unknown> | undefined)?.[key], source);
  if (target === undefined) throw new Error(`There is no ${value.$ref}, to which this refers: ${place}`);
  return resolveReferences(target, String(value.$ref));
}
