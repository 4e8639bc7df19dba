import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { EndpointConfig } from './config.ts';
import { composeStack, type ProxyHandler } from './endpoint.ts';
import { encodeContent } from './http/content-encoding.ts';
import type { Outcome } from './http/outcomes.ts';
import { type StreamedResponse, type StreamedResult, startStream } from './http/stream-envelope.ts';
import { requireToken } from './require-token.ts';

/** Makes the Lambda handler of an endpoint that requires a token and streams an array of any length. */
export function streamingEndpoint(
  config: EndpointConfig,
  success: Outcome,
  handle: (event: APIGatewayProxyEvent) => Promise<StreamedResult>,
): ProxyHandler<StreamedResponse> {
  const access = [requireToken(config.signingSecret)];
  const respond = async (event: APIGatewayProxyEvent) =>
    encodeContent(event, await startStream(success, await handle(event)));
  return composeStack(config, access, respond, executionModeStreamifyResponse);
}
