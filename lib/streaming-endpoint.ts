import { pipeline } from 'node:stream/promises';
import type { APIGatewayProxyEvent, StreamifyHandler } from 'aws-lambda';
import type { ProtectedConfig } from './config.ts';
import { composeStack } from './endpoint.ts';
import { encodeContent } from './http/content-encoding.ts';
import type { Outcome } from './http/outcomes.ts';
import { type StreamedResult, startStream } from './http/stream-envelope.ts';
import { namedError } from './named-error.ts';
import { requireToken } from './require-token.ts';

/** A response failed after its first byte. No cause is set, because Lambda's runtime prints every member of an error. */
class BrokenResponseError extends namedError('BrokenResponseError') {}

/**
 * Makes the Lambda handler of an endpoint that requires a token and streams an array of any length.
 *
 * When the body fails, Lambda's stream stays open. The runtime then reports the failure, and the instance serves on.
 * Destroying the stream would end the process, because the runtime does not handle one of the rejections that follow.
 */
export function protectedStreamingEndpoint(
  config: ProtectedConfig,
  success: Outcome,
  handle: (event: APIGatewayProxyEvent) => Promise<StreamedResult>,
): StreamifyHandler<APIGatewayProxyEvent, void> {
  const stack = composeStack(config, [requireToken(config)], async (event) =>
    encodeContent(event, await startStream(success, await handle(event))),
  );
  return awslambda.streamifyResponse(async (event, stream, context) => {
    const { body, ...head } = await stack(event, context);
    const response = awslambda.HttpResponseStream.from(stream, head);
    response.write(''); // sends the head
    await pipeline(typeof body === 'string' ? [body] : body, response, { end: false }).catch(() => {
      throw new BrokenResponseError('The response broke off. The log line of the request has the cause.');
    });
    response.end();
  });
}
