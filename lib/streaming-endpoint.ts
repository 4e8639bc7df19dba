import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { requireToken } from './auth/require-token.ts';
import type { EndpointConfig } from './config.ts';
import { encodeContent } from './http/content-encoding.ts';
import type { Outcome } from './http/outcomes.ts';
import { type StreamedResult, streamEnvelope } from './http/stream-envelope.ts';
import { composeStack, type ProxyHandler } from './stack.ts';

/**
 * Makes the Lambda handler of an endpoint that takes a token and responds with an array of any length, as a stream.
 *
 * @param config - the settings of every endpoint
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does once the token has been checked
 */
export function streamingEndpoint(
  config: EndpointConfig,
  success: Outcome,
  handle: (event: APIGatewayProxyEvent) => Promise<StreamedResult>,
): ProxyHandler {
  const stream = [encodeContent(), streamEnvelope(success)];
  const access = [requireToken(config.signingSecret)];
  return composeStack(
    config,
    { format: stream, access, executionMode: executionModeStreamifyResponse },
    handle,
  );
}
