import type { Envelope } from '../../conformance/http-client.ts';
import type { BookRequest, Operation } from './check-history.ts';

/** Sends a request with a valid token; an object as its body becomes JSON. */
export type Ask = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly headers: Headers; readonly envelope: Pick<Envelope, 'data'> }>;

/** Carries out a request. A response of status 0 is one that was lost. */
export async function record(ask: Ask, request: BookRequest): Promise<Operation> {
  const invoked = performance.now();
  const { status, headers, envelope } = await ask(...toHttp(request));
  return {
    ...{ ...request, invoked, status },
    returned: status === 0 || status === 503 ? Number.POSITIVE_INFINITY : performance.now(),
    [request.type === 'list' ? 'books' : 'book']: envelope.data ?? undefined,
    tag: headers.get('ETag') ?? undefined,
    replayed: headers.has('Idempotency-Replayed'),
  };
}

function toHttp(request: BookRequest): Parameters<Ask> {
  if (request.type === 'create') {
    const headers = request.key === undefined ? {} : { 'Idempotency-Key': request.key };
    return ['POST', '/book', request.fields, headers];
  }
  if (request.type === 'list') {
    const { after, limit } = request;
    return ['GET', limit === undefined ? '/books' : `/books?limit=${limit}&after=${after}`];
  }
  const path = `/book/${request.id}`;
  if (request.type === 'get') return ['GET', path];
  const headers = request.ifMatch && { 'If-Match': request.ifMatch.join() };
  if (request.type === 'delete') return ['DELETE', path, undefined, headers];
  return ['PUT', path, request.changes, headers];
}
