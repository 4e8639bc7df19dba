import { type Outcome, outcomes } from '../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../serverless/gateway-responses.ts';

const failures = {
  ...outcomes,
  tooManyRequests: gatewayResponses.THROTTLED,
  badGateway: gatewayResponses.DEFAULT_5XX,
  gatewayTimeout: gatewayResponses.INTEGRATION_TIMEOUT,
};

/** What causes each failure of one status. */
type Causes = Readonly<Partial<Record<keyof typeof failures, string>>>;

const badRequest = 'A malformed path, such as `/book/%zz`, or something else that API Gateway refuses';
const invalidInput = 'The body is not a JSON object, or has a field of the wrong type';
const internalError = 'A bug, or a lost counter of the ids; the log of the service has the cause';
const largeBody =
  'In AWS, a body above about 4.4 MB may get 400 instead, and the 413 of a body above 10 MB is plain text.';

/** The responses to requests that fail, by their names in openapi.yaml. */
const responses: Readonly<Record<string, Causes>> = {
  BadRequest: { badRequest },
  InvalidLogin: {
    invalidRequestPayload: 'The body is not a JSON object, or has a member that is not a string',
    badRequest,
  },
  InvalidBook: {
    invalidInput,
    invalidIdempotencyKey: 'The `Idempotency-Key` is empty, too long, not visible ASCII, or sent twice',
    badRequest,
  },
  InvalidChanges: { invalidInput, badRequest },
  InvalidPage: { invalidInput: '`limit`, `after` or a filter is malformed', badRequest },
  Unauthorized: {
    tokenRequired: 'There is no `Authorization` header, or it is empty',
    invalidToken:
      'The token is malformed (a prefix such as `Bearer` included), expired, not valid yet, or wrongly signed',
  },
  WrongCredentials: { invalidCredentials: 'Wrong username or password' },
  BookNotFound: { bookNotFound: 'No book has this id' },
  PreconditionFailed: { preconditionFailed: 'The book does not match `If-Match`; nothing changed' },
  LoginTooLarge: { payloadTooLarge: `The body exceeds 10 MB. ${largeBody}` },
  BookTooLarge: { payloadTooLarge: `The book exceeds 400 KB, or the body 10 MB. ${largeBody}` },
  KeyAlreadyUsed: { idempotencyKeyUsed: 'The key belongs to a book with other fields; nothing was stored' },
  TooManyRequests: { tooManyRequests: 'Throttled by API Gateway, or too many requests from one address' },
  TokenNotGenerated: { tokenNotGenerated: 'The token could not be signed', internalError },
  InternalServerError: { internalError },
  BadGateway: { badGateway: 'The function crashed, or could not start' },
  ServiceUnavailable: { serviceUnavailable: 'The database failed, or the function was about to run out of time' },
  GatewayTimeout: { gatewayTimeout: 'The function did not respond in time' },
};

/** Describes the responses to requests that fail. */
export function describeFailures() {
  return Object.fromEntries(Object.entries(responses).map(([name, causes]) => [name, describeResponse(causes)]));
}

const anyOf = new Intl.ListFormat('en', { type: 'disjunction' });

function describeResponse(causes: Causes) {
  const all = Object.entries(causes).map(([name, cause]) => {
    const { status, message, headers = {} }: Outcome = failures[name as keyof Causes];
    return { name, cause, headers: Object.keys(headers), value: { status, message, data: null } };
  });
  const [{ cause: description, headers = [] } = {}, ...others] = all;
  const isOne = others.length === 0;
  // Swagger UI shows summaries of examples as plain text.
  const examples = all.map(({ name, cause, value }) => [
    name,
    { ...(!isOne && { summary: cause.replaceAll('`', '') }), value },
  ]);
  const own = headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  const schema = { $ref: '#/components/schemas/EmptyEnvelope' };
  return {
    description: isOne ? description : anyOf.format(all.map(({ value }) => `\`${value.message}\``)),
    headers: { ...Object.fromEntries(own), 'x-amzn-RequestId': { $ref: '#/components/headers/RequestId' } },
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  };
}
