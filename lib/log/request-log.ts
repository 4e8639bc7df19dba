import { finished, Readable } from 'node:stream';
import type { MiddlewareObj, Request } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { writeLog } from './write-log.ts';

type LogState = { startedAt?: number };

/**
 * Middleware that writes one line for each request: request ids, route, status, duration in milliseconds, and whether
 * it was the instance's first. An answer of 5xx is logged as an error with its cause and stack; the reason of a
 * refused token by its code. A streamed answer is logged when it has been sent, or has broken off.
 */
export function logRequests(): MiddlewareObj<
  APIGatewayProxyEvent,
  APIGatewayProxyResult,
  Error,
  Context,
  LogState
> {
  let coldStart = true;

  const logRequest = ({
    event,
    context,
    response,
    error,
    internal,
  }: Request<APIGatewayProxyEvent, APIGatewayProxyResult, Error, Context, LogState>): void => {
    const status = response?.statusCode ?? 500;
    const failed = status >= 500 || (status < 400 && error != null);
    writeLog(failed ? 'ERROR' : 'INFO', 'request', {
      requestId: context.awsRequestId,
      apiRequestId: event.requestContext.requestId,
      route: `${event.httpMethod} ${event.resource}`,
      status,
      durationMs: Math.round((performance.now() - (internal.startedAt ?? Number.NaN)) * 1000) / 1000,
      coldStart,
      ...(failed ? { error } : { reason: codeOf(error?.cause) }),
    });
    coldStart = false;
  };

  return {
    before: function startRequestLog({ internal }) {
      internal.startedAt = performance.now();
    },
    after: function logResponse(request) {
      const body: unknown = request.response?.body;
      if (!(body instanceof Readable)) return logRequest(request);
      finished(body, (error) => logRequest({ ...request, error }));
    },
    onError: logRequest,
  };
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
