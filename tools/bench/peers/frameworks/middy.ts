import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import httpEventNormalizer from '@middy/http-event-normalizer';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type PeerEndpoint, type PeerHandler, parseBody, toResult } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

/** middy with the middleware of its documentation, but for the JSON parser: it would run before the token is checked. */
export function serve(endpoint: PeerEndpoint): PeerHandler {
  return middy()
    .use(httpErrorHandler())
    .use(httpEventNormalizer())
    .use(httpHeaderNormalizer())
    .handler((async (event: APIGatewayProxyEvent) => {
      const refusal = endpoint.public ? undefined : refuseToken(event.headers.authorization);
      const request = { id: event.pathParameters?.id, body: parseBody(event) };
      return toResult(refusal ?? (await endpoint.handle(request)));
    }) as never) as PeerHandler;
}
