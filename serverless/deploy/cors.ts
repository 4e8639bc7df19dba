import { exposedHeaders } from '../../lib/http/header-values.ts';

/** A function of serverless.yml, as far as it is looked at here. */
export interface FunctionDefinition {
  readonly events: { http?: string | { readonly method: string; readonly path: string } }[];
}

/** Headers beyond the CORS-safelisted ones (specification 13.2). */
const allowedHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match'];

/** How long a browser remembers the answer to a preflight request; Chromium never remembers it for longer. */
const maxAgeSeconds = 7200;

/**
 * Has the framework make an OPTIONS method for each path, which answers the preflight requests of a site's scripts.
 *
 * @param functions - the functions, before their events are compiled
 * @param origin - scheme, host and port of the site
 */
export function answerPreflights(functions: Iterable<FunctionDefinition>, origin: string): void {
  for (const event of [...functions].flatMap(({ events }) => events)) {
    if (event.http === undefined) continue;
    const [method = '', path = ''] = typeof event.http === 'string' ? event.http.split(' ') : [];
    const http = typeof event.http === 'string' ? { method, path } : event.http;
    event.http = Object.assign(http, { cors: { origin, headers: allowedHeaders, maxAge: maxAgeSeconds } });
  }
}

/**
 * The headers with which a site's scripts may read the responses of API Gateway's own.
 *
 * @param origin - scheme, host and port of the site
 */
export function readableHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': exposedHeaders,
  };
}

/**
 * The headers that answer a preflight request, as the OPTIONS methods have them.
 *
 * @param methods - those of the path
 * @param origin - scheme, host and port of the site
 */
export function preflightHeaders(
  methods: readonly string[],
  origin: string,
): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Headers': allowedHeaders.join(','),
    'Access-Control-Allow-Methods': ['OPTIONS', ...methods].join(','),
    'Access-Control-Max-Age': String(maxAgeSeconds),
  };
}
