import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { type Outcome, outcomes } from './outcomes.ts';

/** What the handler of an endpoint returns. */
export interface Result {
  /** `data` of the envelope; `null` when absent. */
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another outcome than the endpoint's usual one. */
  readonly outcome?: Outcome;
}

/**
 * Middleware that puts what a handler returned into the envelope (specification 1.1): `{status, message, data}`.
 *
 * @param success - the outcome of a request whose handler returned
 */
export function formatData(success: Outcome): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    after: function putIntoEnvelope(request) {
      const { outcome = success, data = null, headers } = request.response as Result;
      request.response = createResponse(outcome, data, headers);
    },
  };
}

/**
 * Middleware that ends a failed request with the outcome of what was thrown, in the same envelope.
 *
 * @param outcomeOf - tells what an error means to the client
 */
export function formatErrors(outcomeOf: (error: unknown) => Outcome): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    onError: function putErrorIntoEnvelope(request) {
      request.response = createResponse(outcomeOf(request.error), null);
    },
  };
}

function createResponse(outcome: Outcome, data: unknown, headers?: Result['headers']): APIGatewayProxyResult {
  const { status, message } = outcome;
  // The one response without content (RFC 9110 section 15.4.5), and so without the envelope.
  if (outcome === outcomes.notModified) return { statusCode: status, headers: { ...headers }, body: '' };
  return {
    statusCode: status,
    headers: { 'Content-Type': 'application/json', ...outcome.headers, ...headers },
    body: JSON.stringify({ status, message, data }),
  };
}
