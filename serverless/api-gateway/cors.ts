import { exposedHeaders } from '../../lib/http/exposed-headers.ts';
import type { FunctionDefinition } from '../framework-types.ts';
import type { Headers } from './gateway-responses.ts';
import { readHttpEvent } from './http-events.ts';

/** The request headers that scripts may send, besides the CORS-safelisted ones (specification 13.2). */
const allowedHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match'];

const maxAgeSeconds = 7200; // Chromium's upper limit for caching a preflight response

/** Adds an OPTIONS method for preflight requests to each path, before the functions' events are compiled. */
export function addPreflights(functions: readonly FunctionDefinition[], origin: string): void {
  const cors = { origin, headers: allowedHeaders, maxAge: maxAgeSeconds };
  for (const event of functions.flatMap(({ events = [] }) => events)) {
    if (event.http !== undefined) event.http = { ...readHttpEvent(event.http), cors };
  }
}

/** The headers of the response to a preflight request, as the OPTIONS methods send them. */
export function preflightHeaders(methods: readonly string[], origin: string): Headers {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Headers': allowedHeaders.join(','),
    'Access-Control-Allow-Methods': ['OPTIONS', ...methods].join(','),
    'Access-Control-Max-Age': String(maxAgeSeconds),
  };
}

/** The headers that let the scripts of an origin read a gateway response (specification 13.3). */
export function corsHeaders(origin: string): Headers {
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposedHeaders };
}
