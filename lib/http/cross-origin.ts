import type { MiddlewareObj } from '@middy/core';
import httpCors from '@middy/http-cors';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * Middleware that lets the scripts of one web site read the answers, errors included. API Gateway answers the preflight
 * requests that browsers send before (serverless/deploy/cors.ts).
 *
 * @param origin - scheme, host and port of that site; nothing is allowed without it
 */
export function allowOrigin(origin: string | undefined): MiddlewareObj<APIGatewayProxyEvent>[] {
  return origin === undefined
    ? []
    : [httpCors({ origin, exposeHeaders: 'ETag, Idempotency-Replayed, Link, Retry-After' })];
}
