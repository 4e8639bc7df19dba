/** A status and the fixed message that goes with it. */
export interface Outcome {
  readonly status: number;
  readonly message: string;
}

/** The outcomes that endpoints share, as docs/specification.md has them; openapi.yaml has the success of each endpoint. */
export const outcomes = {
  notModified: { status: 304, message: '' },
  badRequest: { status: 400, message: 'Bad request' },
  invalidInput: { status: 400, message: 'Invalid input' },
  invalidIdempotencyKey: { status: 400, message: 'Invalid idempotency key' },
  invalidRequestPayload: { status: 400, message: 'Invalid request payload' },
  tokenRequired: { status: 401, message: 'Authorization token required' },
  invalidToken: { status: 401, message: 'Invalid token' },
  invalidCredentials: { status: 401, message: 'Invalid credentials' },
  bookNotFound: { status: 404, message: 'Book not found' },
  notFound: { status: 404, message: 'Not found' },
  preconditionFailed: { status: 412, message: 'Precondition failed' },
  payloadTooLarge: { status: 413, message: 'Payload too large' },
  idempotencyKeyUsed: { status: 422, message: 'Idempotency key already used' },
  serviceUnavailable: { status: 503, message: 'Service unavailable' },
} as const satisfies Record<string, Outcome>;
