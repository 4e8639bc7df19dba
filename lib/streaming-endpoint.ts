import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { requireToken } from './auth/require-token.ts';
import { bufferBody } from './http/buffer-body.ts';
import { encodeContent } from './http/content-encoding.ts';
import type { Outcome } from './http/outcomes.ts';
import { type StreamedData, streamEnvelope } from './http/stream-envelope.ts';
import { composeStack, type ProxyHandler } from './stack.ts';

/**
 * Makes the Lambda handler of an endpoint that takes a token and answers with an array of any length. Whether the
 * answer is streamed is decided here and nowhere else: everything but the last step is the same.
 *
 * @param signingSecret - SECRET_TOKEN
 * @param responseStreaming - whether the runtime takes a stream; Lambda does, `serverless offline` does not
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does once the token has been checked
 */
export function streamingEndpoint(
  signingSecret: string,
  responseStreaming: boolean,
  success: Outcome,
  handle: (event: APIGatewayProxyEvent) => Promise<StreamedData>,
): ProxyHandler {
  const stream = [encodeContent(), streamEnvelope(success)];
  const access = requireToken(signingSecret);
  return responseStreaming
    ? composeStack({ format: stream, access, executionMode: executionModeStreamifyResponse }, handle)
    : composeStack({ format: [bufferBody(), ...stream], access }, handle);
}
