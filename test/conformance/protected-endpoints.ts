import type { HttpRequest } from '../support/http-client.ts';

/**
 * One request to each endpoint that needs a token (specification 4.1).
 *
 * @param id - the `{id}` of the paths that have one
 * @param body - the body of those that have one
 */
export function protectedRequests(id: number | string, body = '{"title":"Emma"}'): readonly HttpRequest[] {
  return [
    { method: 'POST', path: '/book', body },
    { method: 'GET', path: '/books' },
    { method: 'GET', path: `/book/${id}` },
    { method: 'PUT', path: `/book/${id}`, body },
    { method: 'DELETE', path: `/book/${id}` },
  ];
}
