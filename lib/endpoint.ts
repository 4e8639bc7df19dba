import middy, { type MiddlewareObj } from '@middy/core';
import httpCors from '@middy/http-cors';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { EndpointConfig } from './config.ts';
import { outcomeOf } from './error-outcome.ts';
import { exposedHeaders } from './http/cors.ts';
import { createResponse, type Result } from './http/envelope.ts';
import { HttpError, type Outcome, outcomes } from './http/outcomes.ts';
import { invocationSignal } from './invocation-signal.ts';
import { logRequests } from './log.ts';
import { requireToken } from './require-token.ts';

/** A Lambda handler for API Gateway's proxy integration. */
export type ProxyHandler<Response = APIGatewayProxyResult> = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<Response | APIGatewayProxyResult>;

/** Carries out one request; throws what ends it early. */
type Handle = (event: APIGatewayProxyEvent) => Promise<Result>;

/** What is left of a function's timeout when a request that hangs gets its 503. */
const timeoutReserveMs = 100;

/** setTimeout does not wait at all for a longer delay. */
const maxTimerMs = 2 ** 31 - 1;

/** Makes the Lambda handler of an endpoint that anyone may call. `success` is the outcome when `handle` returns. */
export function publicEndpoint(config: EndpointConfig, success: Outcome, handle: Handle): ProxyHandler {
  return composeStack(config, [], async (event) => createResponse(success, await handle(event)));
}

/** Makes the Lambda handler of an endpoint that requires a token. `success` is the outcome when `handle` returns. */
export function protectedEndpoint(config: EndpointConfig, success: Outcome, handle: Handle): ProxyHandler {
  const access = [requireToken(config.signingSecret)];
  return composeStack(config, access, async (event) => createResponse(success, await handle(event)));
}

/**
 * Composes the middleware stack of every endpoint, outermost first: the log, which reports the finished response; CORS, whose
 * headers errors need too; the envelope of errors; the refusal of events that are not requests; and `access`, which decides
 * who reaches the handler.
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
    requestStart: (request) => {
      const { event, context } = request;
      if (!isRequest(event)) request.event = {};
      const getRemainingTimeInMillis = () => Math.min(context.getRemainingTimeInMillis(), maxTimerMs);
      request.context = { ...context, getRemainingTimeInMillis };
    },
  })
    .use(logRequests())
    .use(corsOrigin === undefined ? [] : [httpCors({ origin: corsOrigin, exposeHeaders: exposedHeaders })])
    .onError((request) => {
      request.response = createResponse(outcomeOf(request.error), {});
    })
    .before(function refuseOtherEvents({ event }) {
      if (isRequest(event)) return;
      const cause = Object.assign(new Error('not a request of API Gateway'), { code: 'ERR_NOT_API_GATEWAY' });
      throw new HttpError(outcomes.badRequest, { cause });
    })
    .use(access)
    .handler((event, _context, { signal }) => invocationSignal.run(signal, () => respond(event)));
}

/** Whether an event is a request of API Gateway: queues, load balancers and people may invoke a function too. */
function isRequest(event: unknown): event is APIGatewayProxyEvent {
  const { httpMethod, requestContext } = (event ?? {}) as Partial<APIGatewayProxyEvent>;
  return typeof httpMethod === 'string' && typeof requestContext?.path === 'string';
}
