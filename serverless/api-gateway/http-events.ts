import type { FunctionDefinition, HttpEvent } from '../framework-types.ts';

/** Reads the HTTP events of a function. */
export function readRoutes({ events = [] }: FunctionDefinition): readonly HttpEvent[] {
  return events.flatMap(({ http }) => (http === undefined ? [] : readHttpEvent(http)));
}

/** Reads an HTTP event in its short form or its long one. The path gets a leading slash. */
export function readHttpEvent(http: string | HttpEvent): HttpEvent {
  if (typeof http !== 'string') {
    return { ...http, method: http.method.toUpperCase(), path: `/${http.path.replace(/^\//, '')}` };
  }
  const [method = '', path = ''] = http.split(' ');
  return readHttpEvent({ method, path });
}
