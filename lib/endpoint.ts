import type { APIGatewayProxyEvent } from 'aws-lambda';
import { requireToken } from './auth/require-token.ts';
import { formatData } from './http/envelope.ts';
import type { Outcome } from './http/outcomes.ts';
import { composeStack, type ProxyHandler } from './stack.ts';

/** Carries out one request: returns the `data` of its envelope, or throws what ends it. */
type Handle = (event: APIGatewayProxyEvent) => Promise<unknown>;

/**
 * Makes the Lambda handler of an endpoint that anyone may call.
 *
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does
 */
export function publicEndpoint(success: Outcome, handle: Handle): ProxyHandler {
  return composeStack({ format: [formatData(success)], access: [] }, handle);
}

/**
 * Makes the Lambda handler of an endpoint that takes a token.
 *
 * @param signingSecret - SECRET_TOKEN
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does once the token has been checked
 */
export function protectedEndpoint(signingSecret: string, success: Outcome, handle: Handle): ProxyHandler {
  return composeStack({ format: [formatData(success)], access: requireToken(signingSecret) }, handle);
}
