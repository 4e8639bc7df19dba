import middy, { type MiddlewareObj } from '@middy/core';
import httpCors from '@middy/http-cors';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { clientOutcomeOf } from './client-outcome.ts';
import type { EndpointConfig, ProtectedConfig } from './config.ts';
import { createResponse, type Result } from './http/envelope.ts';
import { exposedHeaders } from './http/exposed-headers.ts';
import { HttpError, type Outcome, outcomes } from './http/outcomes.ts';
import { invocationSignal } from './invocation-signal.ts';
import { logRequests } from './log.ts';
import { requireToken } from './require-token.ts';

/** A Lambda handler for API Gateway's proxy integration. */
export type ProxyHandler<Response = APIGatewayProxyResult> = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<Response | APIGatewayProxyResult>;

/** Carries out one request. It throws the error that {@link clientOutcomeOf} maps to the response. */
type Handle = (event: APIGatewayProxyEvent) => Promise<Result>;

/** The part of a function's timeout that is reserved for the 503 of a request that hangs. */
const timeoutReserveMs = 100;

/** Makes the Lambda handler of an endpoint that anyone may call. @param success - the outcome when `handle` returns */
export function publicEndpoint(config: EndpointConfig, success: Outcome, handle: Handle): ProxyHandler {
  return composeStack(config, [], async (event) => createResponse(success, await handle(event)));
}

/** Makes the Lambda handler of an endpoint that requires a token. @param success - the outcome when `handle` returns */
export function protectedEndpoint(config: ProtectedConfig, success: Outcome, handle: Handle): ProxyHandler {
  const access = [requireToken(config)];
  return composeStack(config, access, async (event) => createResponse(success, await handle(event)));
}

/**
 * Composes the middleware stack of every endpoint, outermost first:
 *
 * 1. The log, which reports the finished response.
 * 2. CORS, because errors need its headers too.
 * 3. The envelope of errors.
 * 4. `access`, which decides who reaches the handler.
 */
export function composeStack<Response>(
  { corsOrigin }: EndpointConfig,
  access: MiddlewareObj<APIGatewayProxyEvent>[],
  respond: (event: APIGatewayProxyEvent) => Promise<Response>,
): ProxyHandler<Response> {
  return middy<APIGatewayProxyEvent, Response | APIGatewayProxyResult>({
    timeoutEarlyInMillis: timeoutReserveMs,
    timeoutEarlyResponse: () => {
      const cause = new Error('the function was about to time out');
      throw new HttpError(outcomes.serviceUnavailable, { cause });
    },
  })
    .use(logRequests())
    .use(corsOrigin === undefined ? [] : [httpCors({ origin: corsOrigin, exposeHeaders: exposedHeaders })])
    .onError((request) => {
      request.response = createResponse(clientOutcomeOf(request.error), {});
    })
    .use(access)
    .handler((event, _context, { signal }) => invocationSignal.run(signal, () => respond(event)));
}
