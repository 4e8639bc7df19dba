import { isDeepStrictEqual } from 'node:util';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { description, findOperation, type Operation, type ResponseDescription } from './description.ts';
import { fitsBody, fitsHeaders, fitsQuery } from './fits-request.ts';

/** A request, as far as it decides what the answer may be. */
interface CheckedRequest {
  readonly method: string;
  /** Path and query below the base URL. */
  readonly path: string;
  /** By names in any case; an array when the header was sent several times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer | undefined;
}

/** An answer, as it came. */
export interface CheckedResponse {
  readonly request: CheckedRequest;
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** The service and openapi.yaml disagree. */
class ContractError extends Error {
  override readonly name = 'ContractError';

  constructor({ request, status, body }: CheckedResponse, problem: string) {
    const start = body.subarray(0, 200).toString();
    super(
      `openapi.yaml and the service differ: ${request.method} ${request.path}: ${status} ${start}: ${problem}`,
    );
  }
}

const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
const validators = new WeakMap<object, ValidateFunction>();

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gunzipSync(body),
  br: (body) => brotliDecompressSync(body),
  zstd: (body) => zstdDecompressSync(body),
};

/** Messages of responses that call the body or the query invalid. */
const refusals: ReadonlySet<unknown> = new Set(['Invalid input', 'Invalid request payload']);

/** The message of a response that calls a header invalid. */
const headerRefusal = 'Invalid idempotency key';

/**
 * Holds an answer against openapi.yaml: its status has to be described for this request, its headers and its body have
 * to be as described, and a request that the description allows must not be called invalid, nor any other accepted.
 *
 * @param answer - any answer of the service
 * @throws an Error that says what differs
 */
export function checkResponse(answer: CheckedResponse): void {
  const { method, path } = answer.request;
  // What a preflight request is answered with belongs to the Fetch standard, not to the API.
  if (method === 'OPTIONS' && answer.status < 300) return;
  const operation = findOperation(method, path);
  const response = operation?.responses[answer.status] ?? findUndescribed(operation, answer);
  if (response === undefined) throw new ContractError(answer, 'this status is not described');
  checkHeaders(answer, response);
  // HEAD has no body, whatever the answer.
  if (method === 'HEAD') return;
  if (response.content === undefined) {
    if (answer.body.length > 0) throw new ContractError(answer, 'it has a body');
    return;
  }
  const envelope = readEnvelope(answer);
  const problem = findProblem(response.content['application/json'].schema, envelope);
  if (problem !== undefined) throw new ContractError(answer, `the body ${problem}`);
  if (operation !== undefined) checkVerdict(answer, operation, envelope);
}

/**
 * Finds the examples of the description that an answer is, whatever its token.
 *
 * @param answer - an answer that {@link checkResponse} accepts
 * @returns their names, such as `GET /book/{id} 404 bookNotFound`
 */
export function findExamples(answer: CheckedResponse): readonly string[] {
  const operation = findOperation(answer.request.method, answer.request.path);
  const content = operation?.responses[answer.status]?.content;
  if (content === undefined) return [];
  const { examples } = content['application/json'];
  const envelope = withoutToken(readEnvelope(answer));
  return Object.entries(examples)
    .filter(([, { value }]) => isDeepStrictEqual(withoutToken(value), envelope))
    .map(([name]) => `${operation?.route} ${answer.status} ${name}`);
}

/** What any path answers that is not described. */
function findUndescribed(
  operation: Operation | undefined,
  { status }: CheckedResponse,
): ResponseDescription | undefined {
  if (operation !== undefined) return undefined;
  const { NotFound, BadRequest, TooManyRequests } = description.components.responses;
  return { 404: NotFound, 400: BadRequest, 429: TooManyRequests }[status];
}

function checkHeaders(answer: CheckedResponse, { headers = {}, content }: ResponseDescription): void {
  const type = answer.headers['content-type'];
  if (content !== undefined && type !== 'application/json')
    throw new ContractError(answer, `Content-Type is ${type}`);
  for (const [name, { required, schema }] of Object.entries(headers)) {
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined && !required) continue;
    const problem = findProblem(schema, value);
    if (problem !== undefined) throw new ContractError(answer, `the header ${name}: ${value} ${problem}`);
  }
}

function checkVerdict(answer: CheckedResponse, operation: Operation, envelope: unknown): void {
  const { body, path, headers = {} } = answer.request;
  const fits = (schema: object, value: unknown) => findProblem(schema, value) === undefined;
  const verdicts = [fitsQuery(operation, path, fits), fitsBody(operation, body, fits)];
  const headerVerdict = fitsHeaders(operation, headers, fits);
  if (answer.status < 300 && [...verdicts, headerVerdict].includes('no')) {
    throw new ContractError(answer, 'a request was accepted that is not as described');
  }
  const { message } = envelope as { readonly message: unknown };
  const refused = refusals.has(message) && verdicts.every((verdict) => verdict === 'yes');
  if (refused || (message === headerRefusal && headerVerdict === 'yes')) {
    throw new ContractError(answer, 'a request was refused that is as described');
  }
}

function findProblem(schema: object, value: unknown): string | undefined {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: '' });
}

function readEnvelope(answer: CheckedResponse): unknown {
  const decode = decoders[String(answer.headers['content-encoding'])];
  try {
    return JSON.parse((decode?.(answer.body) ?? answer.body).toString());
  } catch {
    throw new ContractError(answer, 'the body is no JSON');
  }
}

function withoutToken(envelope: unknown): unknown {
  const { data, ...rest } = envelope as { readonly data: unknown };
  return typeof data === 'object' && data !== null && 'token' in data
    ? { ...rest, data: 'a token' }
    : envelope;
}
