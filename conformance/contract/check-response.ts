import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { decodeBody } from '../decode-body.ts';
import type { HttpResponse } from '../http-messages.ts';
import type { Outcome } from '../outcomes.ts';
import { description, examplesOf, findOperation, type ResponseDescription } from './description.ts';

// `int64` says how wide an integer is in other languages.
const ajv = new Ajv2020({ allErrors: true, strictTypes: false, formats: { int64: true } });

/** A response differs from openapi.yaml. */
export class DescriptionError extends Error {
  /** What differs, without what was received: one text for all responses with this difference. */
  readonly problem: string;

  constructor({ request, status, headers, body }: HttpResponse, problem: string) {
    // A proxy may send anything, and a terminal obeys control characters.
    const text = body
      .subarray(0, 200)
      .toString()
      .replaceAll(/\p{Cc}+/gu, ' ');
    const received = `${request.method} ${request.path}: ${status} ${text}`;
    super(`openapi.yaml and the service differ: ${received}: ${problem} (${JSON.stringify(headers)})`);
    this.problem = problem;
  }
}

/** @throws {DescriptionError} when the status, the headers or the body of a response differ from openapi.yaml */
export function checkResponse(response: HttpResponse): void {
  const problem = findProblem(response);
  if (problem !== undefined) throw new DescriptionError(response, problem);
}

/** Names the examples that a response equals in what is known beforehand, such as `POST /book 400 invalidInput`. */
export function findExamples(response: HttpResponse): readonly string[] {
  const operation = findOperation(response.request.method, response.request.path);
  const described = operation?.responses[response.status];
  const known = (envelope: unknown) => withoutUnknown(described?.content?.['application/json'].schema ?? {}, envelope);
  return Object.entries(examplesOf(described))
    .filter(([, value]) => isDeepStrictEqual(known(value), known(parseBody(response))))
    .map(([name]) => `${operation?.route} ${response.status} ${name}`);
}

function findProblem(response: HttpResponse): string | undefined {
  const { request, status, body } = response;
  // The response to a preflight request belongs to the Fetch standard, not to the API.
  if (request.method === 'OPTIONS' && status < 300) return undefined;
  const operation = findOperation(request.method, request.path);
  const described = operation === undefined ? findForAnyPath(status) : operation.responses[status];
  if (described === undefined) return `${operation ? 'this status' : 'this endpoint'} is not described`;
  const headerProblem = findHeaderProblem(response, described);
  if (headerProblem !== undefined || request.method === 'HEAD') return headerProblem;
  if (described.content === undefined) return body.length > 0 ? 'it has a body' : undefined;
  const envelope = parseBody(response);
  const problem = validate(described.content['application/json'].schema, envelope);
  if (problem !== undefined) return `the body ${problem}`;
  const { status: named, message } = envelope as Outcome;
  const examples = Object.values(examplesOf(described)) as Outcome[];
  const hasExample = examples.some((example) => example.status === named && example.message === message);
  return hasExample ? undefined : `no example has the status ${named} and the message ${message}`;
}

/** The responses of paths that are not described; only the text of openapi.yaml has the 404. */
function findForAnyPath(status: number): ResponseDescription | undefined {
  const { responses, schemas } = description.components;
  const example = { status: 404, message: 'Not found', data: null };
  const notFound = { content: { 'application/json': { schema: schemas.EmptyEnvelope, example } } };
  return { 404: notFound, 400: responses.BadRequest, 429: responses.TooManyRequests }[status];
}

function findHeaderProblem(response: HttpResponse, described: ResponseDescription): string | undefined {
  const type = response.headers['content-type'];
  if (described.content && type !== 'application/json') return `Content-Type is ${type}`;
  for (const [name, { required, schema }] of Object.entries(described.headers ?? {})) {
    const text = response.headers[name.toLowerCase()];
    const value = schema.type === 'integer' ? Number(text) : text;
    const problem = text === undefined && !required ? undefined : validate(schema, value);
    if (problem !== undefined) return `the header ${name} ${problem}`;
  }
  return undefined;
}

function validate(schema: object, value: unknown): string | undefined {
  return ajv.validate(schema, value) ? undefined : ajv.errorsText(ajv.errors, { dataVar: '' });
}

/** @returns `undefined`, which no schema allows, when the body is not JSON */
function parseBody({ headers, body }: HttpResponse): unknown {
  try {
    return JSON.parse(decodeBody(body, headers['content-encoding']).toString());
  } catch {
    return undefined;
  }
}

/** The parts of a schema that lead to the strings in a value. */
interface ValueSchema {
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly items?: ValueSchema;
  readonly pattern?: string;
}

/** Replaces strings that the service makes, such as tokens and times. Their schema has a `pattern`. */
function withoutUnknown({ properties = {}, items = {}, pattern }: ValueSchema, value: unknown): unknown {
  if (typeof value === 'string') return pattern === undefined ? value : 'any';
  if (Array.isArray(value)) return value.map((each) => withoutUnknown(items, each));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutUnknown(properties[name] ?? {}, member)]));
}
