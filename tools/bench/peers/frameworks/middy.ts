import middy from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import httpEventNormalizer from '@middy/http-event-normalizer';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { serve as serveBare } from './bare.ts';

/** middy with the middleware of its documentation, but for the JSON parser: it would run before the token is checked. */
export function serve(endpoint: PeerEndpoint): PeerHandler {
  return middy()
    .use(httpErrorHandler())
    .use(httpEventNormalizer())
    .use(httpHeaderNormalizer())
    .handler(serveBare(endpoint) as never) as PeerHandler;
}
