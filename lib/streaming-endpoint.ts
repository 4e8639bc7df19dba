import { pipeline } from 'node:stream/promises';
import type { PluginExecutionMode, Request } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { EndpointConfig } from './config.ts';
import { composeStack, type ProxyHandler } from './endpoint.ts';
import { encodeContent } from './http/content-encoding.ts';
import type { Outcome } from './http/outcomes.ts';
import { type StreamedResponse, type StreamedResult, startStream } from './http/stream-envelope.ts';
import { namedError } from './named-error.ts';
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
  return composeStack(config, access, respond, streamResponses as unknown as PluginExecutionMode);
}

/** A response failed after its first byte. Lambda's runtime prints every member of the errors that it gets: no cause. */
class BrokenResponseError extends namedError('BrokenResponseError') {}

/** The first argument of an execution mode, which middy's types leave out. */
interface Engine {
  middyRequest(event: unknown, context: unknown): Request;
  runRequest(request: Request, ...stack: unknown[]): Promise<StreamedResponse | APIGatewayProxyResult>;
}

/**
 * An execution mode for middy that streams responses. A body that fails leaves Lambda's stream open, so that the runtime
 * reports the failure and the instance lives on. Middy's own mode destroys the stream, and with it the process: the
 * runtime does not handle one of the rejections that follow.
 */
function streamResponses(
  { middyRequest, runRequest }: Engine,
  before: unknown,
  _handler: unknown,
  after: unknown,
  onError: unknown,
  plugin: { requestStart(request: Request): void },
) {
  let handle: unknown;
  const stack = awslambda.streamifyResponse(async (event, stream, context) => {
    const request = middyRequest(event, context);
    plugin.requestStart(request);
    const { body, ...head } = await runRequest(request, before, handle, after, onError, plugin);
    const response = awslambda.HttpResponseStream.from(stream, head);
    response.write(''); // sends the head
    await pipeline(typeof body === 'string' ? [body] : body, response, { end: false }).catch(() => {
      throw new BrokenResponseError('The response broke off. The log line of the request has the cause.');
    });
    response.end();
  });
  const handler = (base: unknown) => {
    handle = base;
    return stack;
  };
  return Object.assign(stack, { handler });
}
