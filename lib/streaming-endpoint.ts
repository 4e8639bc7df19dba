import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { requireToken } from './auth/require-token.ts';
import type { Config, EndpointConfig } from './config.ts';
import { bufferBody } from './http/buffer-body.ts';
import { encodeContent } from './http/content-encoding.ts';
import type { Outcome } from './http/outcomes.ts';
import { type StreamedResult, streamEnvelope } from './http/stream-envelope.ts';
import { composeStack, type ProxyHandler } from './stack.ts';

/**
 * Makes the Lambda handler of an endpoint that takes a token and responds with an array of any length. Only the last
 * step depends on whether the runtime takes a stream: Lambda does, `serverless offline` does not.
 *
 * @param config - the settings of every endpoint, and whether the response is streamed
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does once the token has been checked
 */
export function streamingEndpoint(
  config: EndpointConfig & Pick<Config, 'responseStreaming'>,
  success: Outcome,
  handle: (event: APIGatewayProxyEvent) => Promise<StreamedResult>,
): ProxyHandler {
  const stream = [encodeContent(), streamEnvelope(success)];
  const access = [requireToken(config.signingSecret)];
  return config.responseStreaming
    ? composeStack(config, { format: stream, access, executionMode: executionModeStreamifyResponse }, handle)
    : composeStack(config, { format: [bufferBody(), ...stream], access }, handle);
}
