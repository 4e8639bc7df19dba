import { buffer } from 'node:stream/consumers';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { StreamedResponse } from './stream-envelope.ts';

/**
 * Middleware that collects a streamed body, for runtimes that take no stream. A failure while the body is read is
 * then a failure like any other, since nothing has been sent.
 */
export function bufferBody(): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    after: async function collectBody(request) {
      const { body, ...head } = request.response as StreamedResponse;
      const bytes = await buffer(body);
      const isBase64Encoded = 'Content-Encoding' in head.headers;
      request.response = {
        ...head,
        body: bytes.toString(isBase64Encoded ? 'base64' : 'utf8'),
        isBase64Encoded,
      } satisfies APIGatewayProxyResult;
    },
  };
}
