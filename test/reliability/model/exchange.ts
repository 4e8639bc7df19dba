import { forgeToken } from '../../../conformance/forge-token.ts';
import { type Call, settings } from '../../support/load-handlers.ts';
import type { AnyRequest } from './requests.ts';
import type { Effect } from './specification.ts';

type TestResponse = Awaited<ReturnType<Call>>;

const secret = settings.SECRET_TOKEN;
const tokens = {
  HS256: forgeToken({ secret }),
  HS384: forgeToken({ header: { alg: 'HS384' }, secret }),
  HS512: forgeToken({ header: { alg: 'HS512' }, secret }),
  invalid: forgeToken({ claims: { exp: 1 }, secret }),
};

const methods = { create: 'POST', list: 'GET', get: 'GET', update: 'PUT', delete: 'DELETE' } as const;

/** Sends a request to the functions. */
export function send(call: Call, request: AnyRequest): Promise<TestResponse> {
  const { type, access, id, key, precondition, limit, body } = request;
  const headers: Record<string, string> = access === 'missing' ? {} : { Authorization: tokens[access] };
  const method = methods[type];
  if (type === 'list') {
    const queryStringParameters = { after: String(id), ...(limit < Infinity && { limit: String(limit) }) };
    return call(method, '/books', { headers, queryStringParameters });
  }
  if (type === 'create') {
    if (key !== undefined) headers['Idempotency-Key'] = key;
  } else if (precondition !== undefined) {
    headers[type === 'get' ? 'If-None-Match' : 'If-Match'] = precondition.header;
  }
  const content = { body: body.text, isBase64Encoded: body.isBase64Encoded };
  const path = type === 'create' ? '/book' : `/book/${id}`;
  return call(method, path, { headers, ...((type === 'create' || type === 'update') && content) });
}

/** Makes the expected response of an effect. */
export function expectedResponse(
  { type, limit }: AnyRequest,
  { outcome, data, nextAfter, tag, replayed }: Effect,
): TestResponse {
  const isNotModified = outcome.status === 304;
  const headers = {
    ...(!isNotModified && { 'Content-Type': 'application/json' }),
    ...(nextAfter !== undefined && { Link: `<?limit=${limit}&after=${nextAfter}>; rel="next"` }),
    ...(outcome.status === 200 && type === 'list' && { Vary: 'Accept-Encoding' }),
    ...(tag !== undefined && { ETag: tag }),
    ...(outcome.status === 401 && { 'WWW-Authenticate': 'BookCatalog' }),
    ...(tag !== undefined && type === 'get' && { 'Cache-Control': 'private, max-age=0, must-revalidate' }),
    ...(outcome.status === 201 && { Location: `/book/${(data as { id: number }).id}` }),
    ...(replayed && { 'Idempotency-Replayed': 'true' }),
  };
  return { status: outcome.status, headers, envelope: isNotModified ? (null as never) : { ...outcome, data } };
}
