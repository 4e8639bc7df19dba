import { namedError } from '../named-error.ts';

/** How a request ends: HTTP status, fixed message of the envelope, and the headers that always go with them. */
export interface Outcome {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A scheme of our own. To `Basic` or `Bearer`, clients would respond with that scheme (specification 4.9). */
const challenge = { 'WWW-Authenticate': 'BookCatalog' };

/** 304 and all failures of the functions. Those of API Gateway are in serverless/api-gateway/gateway-responses.ts. */
export const outcomes = {
  notModified: { status: 304, message: '' },
  invalidInput: { status: 400, message: 'Invalid input' },
  invalidIdempotencyKey: { status: 400, message: 'Invalid idempotency key' },
  invalidRequestPayload: { status: 400, message: 'Invalid request payload' },
  tokenRequired: { status: 401, message: 'Authorization token required', headers: challenge },
  invalidToken: { status: 401, message: 'Invalid token', headers: challenge },
  invalidCredentials: { status: 401, message: 'Invalid credentials', headers: challenge },
  bookNotFound: { status: 404, message: 'Book not found' },
  preconditionFailed: { status: 412, message: 'Precondition failed' },
  payloadTooLarge: { status: 413, message: 'Payload too large' },
  idempotencyKeyUsed: { status: 422, message: 'Idempotency key already used' },
  tokenNotGenerated: { status: 500, message: 'Could not generate token' },
  internalError: { status: 500, message: 'Internal server error' },
  serviceUnavailable: { status: 503, message: 'Service unavailable', headers: { 'Retry-After': '1' } },
} as const satisfies Record<string, Outcome>;

/**
 * Ends a request with an outcome. The client sees its status and message. The log has the `cause` of a 5xx, and the
 * `reason` of any other outcome: the name of what was wrong, never its value.
 */
export class HttpError extends namedError('HttpError') {
  readonly outcome: Outcome;
  readonly reason: string | undefined;

  constructor(outcome: Outcome, { reason, ...options }: ErrorOptions & { readonly reason?: string } = {}) {
    super(outcome.message, options);
    this.outcome = outcome;
    this.reason = reason;
  }
}
