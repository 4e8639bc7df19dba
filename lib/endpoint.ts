import type { APIGatewayProxyEvent } from 'aws-lambda';
import { requireToken } from './auth/require-token.ts';
import type { EndpointConfig } from './config.ts';
import { formatData, type Result } from './http/envelope.ts';
import type { Outcome } from './http/outcomes.ts';
import { composeStack, type ProxyHandler } from './stack.ts';

/** Carries out one request: returns its result, or throws what ends it. */
type Handle = (event: APIGatewayProxyEvent) => Promise<Result>;

/**
 * Makes the Lambda handler of an endpoint that anyone may call.
 *
 * @param config - the settings of every endpoint
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does
 */
export function publicEndpoint(config: EndpointConfig, success: Outcome, handle: Handle): ProxyHandler {
  return composeStack(config, { format: [formatData(success)], access: [] }, handle);
}

/**
 * Makes the Lambda handler of an endpoint that takes a token.
 *
 * @param config - the settings of every endpoint
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does once the token has been checked
 */
export function protectedEndpoint(config: EndpointConfig, success: Outcome, handle: Handle): ProxyHandler {
  const access = [requireToken(config.signingSecret)];
  return composeStack(config, { format: [formatData(success)], access }, handle);
}
