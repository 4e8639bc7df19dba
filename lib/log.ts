import type { MiddlewareObj, Request } from '@middy/core';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { StreamedResponse } from './http/stream-envelope.ts';

/** Levels of Lambda's JSON log format, by which CloudWatch filters. */
type LogLevel = 'INFO' | 'WARN' | 'ERROR';

/** The most causes of an error in a line, because an error may be its own cause. */
const maxCauses = 5;

/** The most characters of a text in a line, because a database may send megabytes as its message. */
const maxTextLength = 2_000;

/** The message of the error in the line of a stream whose client disconnected before its end. */
export const clientDisconnected = 'the client disconnected before the end of the response';

type Response = { readonly statusCode: number; readonly body: string | StreamedResponse['body'] };
type State = { startedAt?: number };
type Event = Partial<APIGatewayProxyEvent>; // Other events than requests have none of its members.

/**
 * Middleware that writes one line for each request, when its response has been made. The line of a stream is written
 * when the stream has been sent. A 5xx is logged with the error and its causes, a refusal with its reason.
 */
export function logRequests(): MiddlewareObj<Event, Response, Error, Context, State> {
  let coldStart = true;

  type Logged = Request<Event, Response, Error, Context, State>;
  const logRequest = ({ event, context, response, error, internal }: Logged): void => {
    const status = response?.statusCode ?? 500;
    // A stream has sent its status before it breaks off.
    const hasBrokenOff = status < 400 && error != null;
    const failed = status >= 500 || hasBrokenOff;
    const { reason } = (error ?? {}) as { readonly reason?: string };
    writeLog(failed ? 'ERROR' : 'INFO', 'request', {
      requestId: context.awsRequestId,
      apiRequestId: event.requestContext?.requestId,
      route: event.httpMethod && `${event.httpMethod} ${event.resource}`,
      status,
      durationMs: Math.round((performance.now() - (internal.startedAt ?? Number.NaN)) * 1000) / 1000,
      coldStart,
      ...(failed ? { error } : { reason }),
    });
    coldStart = false;
  };

  const logAtEnd = async function* (request: Logged, body: StreamedResponse['body']) {
    let error: Error | null = new Error(clientDisconnected); // unless the end is reached
    try {
      yield* body;
      error = null;
    } catch (failure) {
      error = failure as Error;
      throw failure;
    } finally {
      logRequest({ ...request, error });
    }
  };

  return {
    before: function startRequestLog({ internal }) {
      internal.startedAt = performance.now();
    },
    after: function logResponse(request) {
      const { response } = request;
      if (typeof response?.body !== 'object') return logRequest(request);
      request.response = { ...response, body: logAtEnd(request, response.body) };
    },
    onError: logRequest,
  };
}

/**
 * Writes one line of JSON to standard output. Lambda's `console` would wrap it in a second JSON object.
 *
 * @param fields - never a token, a password, a secret or a body. `error` is written with its message, stack and causes.
 */
export function writeLog(
  level: LogLevel,
  message: string,
  { error, ...fields }: Readonly<Record<string, unknown>> = {},
): void {
  const entry = { timestamp: new Date().toISOString(), level, message, ...fields, error: describe(error) };
  const cut = (_key: string, value: unknown) => (typeof value === 'string' ? value.slice(0, maxTextLength) : value);
  process.stdout.write(`${JSON.stringify(entry, cut)}\n`);
}

/** Picks the members that every error has. Those of the SDK have more: whole requests and responses. */
function describe(error: unknown, causes = 0): unknown {
  if (error === undefined || causes > maxCauses) return undefined;
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause } = error;
  return { name, message, stack, cause: describe(cause, causes + 1) };
}
