import { type Outcome, outcomes } from '../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../serverless/deploy/gateway-responses.ts';

const failures = {
  ...outcomes,
  tooManyRequests: gatewayResponses.THROTTLED,
  badGateway: gatewayResponses.DEFAULT_5XX,
  gatewayTimeout: gatewayResponses.INTEGRATION_TIMEOUT,
};

type Failure = Exclude<keyof typeof failures, 'notModified'>;

const causes: Readonly<Record<Failure, string>> = {
  badRequest: 'Malformed HTTP, such as `%zz` in the path',
  invalidInput: 'A body that is not a JSON object, a field of the wrong type, or a malformed query parameter',
  invalidIdempotencyKey: 'The `Idempotency-Key` is empty, too long, not visible ASCII, or sent twice',
  invalidRequestPayload: 'A body that is not a JSON object, or a member that is not a string',
  tokenRequired: 'No `Authorization` header, or an empty one',
  invalidToken:
    'A token that is malformed (a prefix such as `Bearer` included), expired, not valid yet, or wrongly signed',
  invalidCredentials: 'Wrong username or password',
  bookNotFound: 'No book has this id',
  preconditionFailed: 'The book does not match `If-Match`; nothing changed',
  payloadTooLarge:
    'The book exceeds 400 KB, or the body 10 MB. In AWS, a body above about 4.4 MB may get 400 instead, and the 413 of a ' +
    'body above 10 MB is plain text',
  idempotencyKeyUsed: 'The idempotency key belongs to a book with other fields; nothing was stored',
  tooManyRequests: 'Throttled by API Gateway, or too many requests from one address',
  internalError: 'A bug; the cause is in the log of the service',
  tokenNotGenerated: 'The token could not be signed',
  badGateway: 'The function crashed, or could not start because the database was unreachable',
  serviceUnavailable: 'The database failed or timed out, or the function is about to run out of time',
  gatewayTimeout: 'The function did not respond in time',
};

/** The responses to requests that fail, each with what ends a request in its status. */
const responses: Readonly<Record<string, readonly [Failure, ...Failure[]]>> = {
  BadRequest: ['badRequest'],
  InvalidLogin: ['invalidRequestPayload', 'badRequest'],
  InvalidBook: ['invalidInput', 'invalidIdempotencyKey', 'badRequest'],
  InvalidInput: ['invalidInput', 'badRequest'],
  Unauthorized: ['tokenRequired', 'invalidToken'],
  WrongCredentials: ['invalidCredentials'],
  BookNotFound: ['bookNotFound'],
  PreconditionFailed: ['preconditionFailed'],
  PayloadTooLarge: ['payloadTooLarge'],
  KeyAlreadyUsed: ['idempotencyKeyUsed'],
  TooManyRequests: ['tooManyRequests'],
  TokenNotGenerated: ['tokenNotGenerated', 'internalError'],
  InternalServerError: ['internalError'],
  BadGateway: ['badGateway'],
  ServiceUnavailable: ['serviceUnavailable'],
  GatewayTimeout: ['gatewayTimeout'],
};

/** Describes the responses to requests that fail, by their names in openapi.yaml. */
export function describeFailures() {
  return Object.fromEntries(Object.entries(responses).map(([name, all]) => [name, describeResponse(all)]));
}

const anyOf = new Intl.ListFormat('en', { type: 'disjunction' });

function describeResponse(all: readonly [Failure, ...Failure[]]) {
  const { headers = {} }: Outcome = failures[all[0]];
  const examples = all.map((failure) => {
    const { status, message } = failures[failure];
    const summary = all.length > 1 ? causes[failure] : undefined;
    return [failure, { summary, value: { status, message, data: null } }];
  });
  const references = Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return {
    description:
      all.length > 1 ? anyOf.format(all.map((failure) => `\`${failures[failure].message}\``)) : causes[all[0]],
    ...(references.length > 0 && { headers: Object.fromEntries(references) }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/EmptyEnvelope' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}
