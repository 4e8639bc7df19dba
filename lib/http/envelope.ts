import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { outcomeOf } from '../error-outcome.ts';
import type { Outcome } from './outcomes.ts';

/**
 * Middleware that puts what a handler returned into the envelope of SPEC.md section 2: `{status, message, data}`.
 *
 * @param success - the outcome of a request whose handler returned; the value returned becomes `data`
 */
export function formatData(success: Outcome): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    after: function putIntoEnvelope(request) {
      request.response = createResponse(success, request.response ?? null);
    },
  };
}

/** Middleware that ends a failed request with the outcome of what was thrown, in the same envelope. */
export function formatErrors(): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    onError: function putErrorIntoEnvelope(request) {
      request.response = createResponse(outcomeOf(request.error), null);
    },
  };
}

function createResponse({ status, message, headers }: Outcome, data: unknown): APIGatewayProxyResult {
  return {
    statusCode: status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ status, message, data }),
  };
}
