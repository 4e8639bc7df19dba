import middy, { type MiddlewareObj, type PluginExecutionMode } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Config } from './config.ts';
import { outcomeOf } from './error-outcome.ts';
import { allowOrigin } from './http/cross-origin.ts';
import { formatErrors } from './http/envelope.ts';
import { HttpError } from './http/http-error.ts';
import { runInvocation } from './http/invocation.ts';
import { outcomes } from './http/outcomes.ts';
import { logRequests } from './log/request-log.ts';

/** A Lambda handler for API Gateway's proxy integration. */
export type ProxyHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** What the stacks of endpoints differ in. */
export interface StackParts {
  /** Middleware that makes the response of what the handler returns, outermost first. */
  readonly format: MiddlewareObj<APIGatewayProxyEvent>[];
  /** Middleware that decides who gets to the handler. */
  readonly access: MiddlewareObj<APIGatewayProxyEvent>[];
  /** middy's way of calling the handler; the standard one when absent. */
  readonly executionMode?: PluginExecutionMode;
}

/** What is left of a function's timeout for the 503 that says that it would have run out. */
const timeoutReserveMs = 100;

/**
 * Composes the middleware stack that every endpoint has, outermost first; `after` and `onError` hooks run in reverse.
 * The log is outermost because it reports the finished response; then CORS, whose headers errors have too; then the
 * errors' envelope, so inner failures still get the envelope.
 *
 * @param config - the settings that the stack uses
 * @param parts - what is particular to the endpoint
 * @param handle - what the endpoint does; it passes for a ProxyHandler because `format` makes the response
 */
export function composeStack(
  { corsOrigin }: Pick<Config, 'corsOrigin'>,
  { format, access, executionMode }: StackParts,
  handle: (event: APIGatewayProxyEvent) => Promise<unknown>,
): ProxyHandler {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: timeoutReserveMs,
    timeoutEarlyResponse: failBeforeTimeout,
    ...(executionMode && { executionMode }),
  })
    .use(logRequests())
    .use(allowOrigin(corsOrigin))
    .use(formatErrors(outcomeOf))
    .use(format)
    .use(access)
    .handler((event, _context, { signal }) =>
      runInvocation(signal, () => handle(event) as Promise<APIGatewayProxyResult>),
    );
}

function failBeforeTimeout(): never {
  throw new HttpError(outcomes.serviceUnavailable, {
    cause: new Error('the function was about to time out'),
  });
}
