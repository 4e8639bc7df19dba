import middy, { type MiddlewareObj } from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { requireToken } from './authentication.ts';
import { formatEnvelope } from './envelope.ts';
import { HttpError } from './http-error.ts';
import { type Outcome, outcomes } from './outcomes.ts';
import { logRequests } from './request-log.ts';

/** Carries out one request: returns the `data` of its envelope, or throws what ends it. */
type Handle = (event: APIGatewayProxyEvent) => Promise<unknown>;

/** A Lambda handler for API Gateway's proxy integration. */
type ProxyHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What is left of a function's timeout for the 503 that says that it would have run out. */
const timeoutReserveMs = 100;

/**
 * Makes the Lambda handler of an endpoint that anyone may call.
 *
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does
 */
export function publicEndpoint(success: Outcome, handle: Handle): ProxyHandler {
  return composeStack(success, [], handle);
}

/**
 * Makes the Lambda handler of an endpoint that takes a token.
 *
 * @param signingSecret - SECRET_TOKEN
 * @param success - the outcome when `handle` returns
 * @param handle - what the endpoint does once the token has been checked
 */
export function protectedEndpoint(signingSecret: string, success: Outcome, handle: Handle): ProxyHandler {
  return composeStack(success, [requireToken(signingSecret)], handle);
}

/**
 * The middleware stack of every endpoint, outermost first; `after` and `onError` hooks run in reverse. The log is
 * outermost because it reports the finished answer, the envelope next because whatever fails further in has to end
 * in it, and header names are lower-cased before anyone looks for `authorization`.
 *
 * `handle` passes for a ProxyHandler because the envelope makes the response of what it returns.
 */
function composeStack(
  success: Outcome,
  access: readonly MiddlewareObj<APIGatewayProxyEvent>[],
  handle: Handle,
): ProxyHandler {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: timeoutReserveMs,
    timeoutEarlyResponse: failBeforeTimeout,
  })
    .use(logRequests())
    .use(formatEnvelope(success))
    .use(httpHeaderNormalizer())
    .use([...access])
    .handler(handle as ProxyHandler);
}

function failBeforeTimeout(): never {
  throw new HttpError(outcomes.serviceUnavailable, {
    cause: new Error('the function was about to time out'),
  });
}
