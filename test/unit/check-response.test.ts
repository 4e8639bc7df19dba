import { expect, test } from 'vitest';
import { aBook } from '../../conformance/a-book.ts';
import { checkResponse } from '../../conformance/contract/check-response.ts';
import type { HttpResponse } from '../../conformance/http-client.ts';

const json = { 'content-type': 'application/json' };
const book = { id: 1, ...aBook({ title: 'Emma' }) };

test('a 304 with an ETag and no body is as described', () => {
  expect(() => checkResponse(known({}))).not.toThrow();
});

test.each([
  ['a 304 with a body', known({ body: Buffer.from('{}') }), 'it has a body'],
  ['a 304 without an ETag', known({ headers: {} }), 'the header ETag'],
  ['a 304 with a weak ETag', known({ headers: { etag: 'W/"x"' } }), 'the header ETag'],
  ['a book without an ETag', created(json), 'the header ETag'],
  ['a book at another path', created({ ...json, etag: '"x"', location: '/books/1' }), 'Location'],
  [
    'a replay that is marked otherwise',
    created({ ...json, etag: '"x"', location: '/book/1', 'idempotency-replayed': 'yes' }),
    'the header Idempotency-Replayed',
  ],
  ['a message of another status', refused('Invalid token'), 'no example has the status 400 and the message'],
  ['a status of its own in the body', refused('Bad request', 401), 'no example has the status 401'],
  [
    'a date in Retry-After',
    { ...refused(), status: 503, headers: { ...json, 'retry-after': 'Sun, 22 Nov 2026 12:00:00 GMT' } },
    'the header Retry-After',
  ],
])('%s is not as described', (_situation, response, problem) => {
  expect(() => checkResponse(response)).toThrow(problem);
});

function known(changes: Partial<HttpResponse>): HttpResponse {
  const request = { method: 'GET', path: '/book/1', headers: { 'If-None-Match': '"x"' } };
  return { request, status: 304, headers: { etag: '"x"' }, body: Buffer.alloc(0), ...changes };
}

function created(headers: HttpResponse['headers']): HttpResponse {
  const body = { status: 201, message: 'Book created successfully', data: book };
  return respond({ status: 201, headers }, body);
}

function refused(message = 'Invalid idempotency key', named = 400): HttpResponse {
  return respond({ status: 400, headers: json }, { status: named, message, data: null });
}

function respond(response: Pick<HttpResponse, 'status' | 'headers'>, body: object): HttpResponse {
  const request = { method: 'POST', path: '/book', body: '{"title":"Emma"}' };
  return { request, ...response, body: Buffer.from(JSON.stringify(body)) };
}
