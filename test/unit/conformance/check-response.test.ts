import { expect, test } from 'vitest';
import { aBook, unknownField } from '../../../conformance/a-book.ts';
import { checkResponse, findExamples } from '../../../conformance/contract/check-response.ts';
import { examplesOf, getOperation } from '../../../conformance/contract/description.ts';
import type { HttpResponse } from '../../../conformance/http-messages.ts';

const request = { method: 'GET', path: '/book/1', headers: { 'If-None-Match': '"x"' } };
const caching = 'private, max-age=0, must-revalidate';
const identified = { 'x-amzn-requestid': 'an id', 'cache-control': caching };
const notModified: HttpResponse = {
  request,
  status: 304,
  headers: { ...identified, etag: '"x"' },
  body: Buffer.alloc(0),
};

function respond(status: number, headers: object, message: string, data: object | null = null, named = status) {
  return {
    request: { method: 'POST', path: '/book', body: '{"title":"Emma"}' },
    status,
    headers: { 'content-type': 'application/json', 'x-amzn-requestid': 'an id', ...headers },
    body: Buffer.from(JSON.stringify({ status: named, message, data })),
  };
}

const { message = '' } = getOperation('POST /book').success ?? {};

const created = (headers: object, others: object = {}) =>
  respond(201, headers, message, { id: 1, ...aBook({ title: 'Emma' }), ...others });

test('a response equals an example whatever its token, and not with another book or message', () => {
  const request = { method: 'POST', path: '/token' };
  const login = (text: string) => ({ ...respond(200, {}, text, { token: 'e30.e30.eA' }), request });
  const examples = Object.entries(examplesOf(getOperation('POST /book').responses[201]));
  const [[name = '', example] = []] = examples as [string, { data: object }][];

  expect(findExamples(login('Token generated successfully'))).toEqual(['POST /token 200 example']);
  expect(findExamples(login('Another message'))).toEqual([]);
  expect(findExamples(respond(201, headers, message, example?.data))).toEqual([`POST /book 201 ${name}`]);
  expect(findExamples(respond(201, headers, message, { ...example?.data, year: 1 }))).toEqual([]);
});

/** A response to another request than POST /book. */
const responseTo = (method: string, path: string, response: object) => ({
  ...respond(404, {}, 'Not found'),
  ...response,
  request: { method, path },
});

test('a difference is said with the request and the response', () => {
  const text = 'POST /book: 400 {"status":400,"message":"Invalid token","data":null}: no example has';
  expect(() => checkResponse(respond(400, {}, 'Invalid token'))).toThrow(
    `openapi.yaml and the service differ: ${text}`,
  );
});

const headers = { etag: '"x"', location: '/book/1' };
const date = { 'retry-after': 'Sun, 22 Nov 2026 12:00:00 GMT' };
const otherMark = { etag: '"x"', location: '/book/1', 'idempotency-replayed': 'yes' };

test.each([
  ['a 304 with a body', { ...notModified, body: Buffer.from('{}') }, 'it has a body'],
  ['a book without an ETag', created({ location: '/book/1' }), 'the header ETag'],
  ['a book with a member of its own', created(headers, { [unknownField]: 3 }), 'must NOT have additional properties'],
  ['a replay that is marked otherwise', created(otherMark), 'the header Idempotency-Replayed'],
  ['a status of its own in the body', respond(400, {}, 'Bad request', null, 401), 'no example has the status 401'],
  ['a status that no request has', respond(418, {}, 'Teapot'), 'this status is not described'],
  ['a success of an unknown path', responseTo('GET', '/nowhere', respond(200, {}, 'OK')), 'this endpoint is not'],
  ['a failure of OPTIONS', responseTo('OPTIONS', '/nowhere', respond(502, {}, 'Bad gateway')), 'this endpoint is not'],
  [
    'a page of HTML',
    { ...respond(400, {}, ''), headers: { 'content-type': 'text/html' } },
    'Content-Type is text/html',
  ],
  ['a body that is not JSON', { ...respond(400, {}, ''), body: Buffer.from('no JSON') }, 'the body  must be object'],
  ['a date in Retry-After', respond(503, date, 'Service unavailable'), 'the header Retry-After'],
])('%s is not as described', (_situation, response, problem) => {
  expect(() => checkResponse(response)).toThrow(problem);
});
