import { PassThrough } from 'node:stream';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { test as base, expect, vi } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { StorageUnavailableError } from '../../../lib/dynamodb/connection/errors.ts';
import type { ProxyHandler } from '../../../lib/endpoint.ts';
import type { StreamedResult } from '../../../lib/http/stream-envelope.ts';
import { protectedStreamingEndpoint } from '../../../lib/streaming-endpoint.ts';
import { captureLog } from '../../support/captured-log.ts';
import '../../support/collect-streams.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const secret = 'a secret that is longer than 32 bytes';
const success = { status: 200, message: 'Books retrieved successfully' };

const test = base.extend('log', { auto: true }, () => captureLog());

/** Calls an endpoint that has this data and collects its response; AWS's own runtime is in test/aws/runtime. */
async function request(data: StreamedResult['data'], headers: Record<string, string> = {}) {
  const handle = async () => ({ data, headers: { Link: '<?next>; rel="next"' } });
  const config = { signingSecret: secret, corsOrigin: undefined };
  const endpoint = protectedStreamingEndpoint(config, success, handle) as unknown as ProxyHandler;
  const event = createEvent({ headers: { Authorization: forgeToken({ secret }), ...headers } });
  return endpoint(event, createContext());
}

async function* failAfter(count: number): AsyncGenerator<string> {
  for (let number = 1; number <= count; number += 1) yield `${number}`;
  throw new StorageUnavailableError('the table is gone');
}

test.each<[string, readonly string[], readonly unknown[]]>([
  ['nothing', [], []],
  ['an empty part', [''], []],
  ['one part', ['1,2'], [1, 2]],
  ['several parts', ['1', '2,"],["', '{}'], [1, 2, '],[', {}]],
  ['empty parts between others', ['', '1', '', '', '2', ''], [1, 2]],
])('%s makes the data of the envelope', async (_, parts, data) => {
  const response = await request(parts);

  expect(response).toMatchObject({ statusCode: 200, isBase64Encoded: false });
  expect(response.headers).toEqual({
    'Content-Type': 'application/json',
    Vary: 'Accept-Encoding',
    Link: '<?next>; rel="next"',
  });
  expect(JSON.parse(response.body)).toEqual({ status: 200, message: 'Books retrieved successfully', data });
});

test.for([{}, { 'Accept-Encoding': 'gzip' }])(
  'with %j, a failure is a 503 until something is sent, and then breaks the body off',
  async (headers, { log }) => {
    const response = await request(failAfter(0), headers);

    expect(response).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
    expect(response.headers).not.toHaveProperty('Content-Encoding');
    expect(JSON.parse(response.body)).toEqual({ status: 503, message: 'Service unavailable', data: null });
    expect(log.lines.at(-1)).toMatchObject({ level: 'ERROR', status: 503 });
    for (const count of [1, 3]) {
      await expect(request(failAfter(count), headers)).rejects.toThrow('The response broke off');
      const error = { message: 'the table is gone' };
      expect(log.lines.at(-1)).toMatchObject({ level: 'ERROR', status: 200, error });
    }
  },
);

const unencoded = ['', 'x-unknown', 'gzip;q=0', '*;q=0', '*', 'gzip;q=0.5, *', 'identity;q=0, *', ';;,='];

test.each<[string, (body: Buffer) => Buffer, string[]]>([
  ['gzip', gunzipSync, ['gzip', 'gzip;q=1, br;q=0.5', '*;q=0.1, gzip', 'identity;q=0, gzip;q=0.1']],
  ['br', brotliDecompressSync, ['br', 'gzip, deflate, br, zstd']],
  ['identity', (body) => body, [...unencoded, 'identity, gzip;q=0.5', 'gzip;q=x']],
])('the content coding of a body is %s when Accept-Encoding asks for it', async (coding, decode, all) => {
  for (const accepted of all) {
    const { headers, body, isBase64Encoded } = await request(['1', '2'], { 'Accept-Encoding': accepted });

    expect(headers).toHaveProperty('Vary', 'Accept-Encoding');
    expect(headers?.['Content-Encoding'] ?? 'identity', accepted).toBe(coding);
    const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
    expect(JSON.parse(decode(bytes).toString()).data).toEqual([1, 2]);
  }
});

test.each([
  ['br', 'quality 3', (text: string) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })],
  ['gzip', 'level 4', (text: string) => gzipSync(text, { level: 4 })],
])('%s compresses at %s', async (coding, _level, compress) => {
  const part = Array.from({ length: 5_000 }, (_, index) => `${index * 7919}`).join();

  const [plain, compressed] = [await request([part]), await request([part], { 'Accept-Encoding': coding })];

  expect(Buffer.from(compressed.body, 'base64')).toHaveLength(compress(plain.body).length);
});

/** Calls an endpoint as Lambda's runtime does, and collects what it writes. */
async function stream(data: StreamedResult['data'], response = new PassThrough()) {
  const chunks: string[] = [];
  response.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  const from = (given: PassThrough) => given;
  vi.stubGlobal('awslambda', { streamifyResponse: (handler: unknown) => handler, HttpResponseStream: { from } });
  const config = { signingSecret: secret, corsOrigin: undefined };
  const endpoint = protectedStreamingEndpoint(config, success, async () => ({ data }));
  const event = createEvent({ headers: { Authorization: forgeToken({ secret }) } });
  const sent = Promise.resolve(endpoint(event, response as never, createContext()));
  const outcome = await sent.then(() => 'sent', String);
  return { response, chunks, outcome };
}

test('an error is sent in one piece', async () => {
  const { chunks, outcome } = await stream(failAfter(0));

  expect(chunks).toEqual(['{"status":503,"message":"Service unavailable","data":null}']);
  expect(outcome).toBe('sent');
});

// Lambda's runtime would exit when the stream is destroyed.
test("a response that breaks off leaves Lambda's stream open", async () => {
  const { response, outcome } = await stream(failAfter(1));

  expect(outcome).toBe('BrokenResponseError: The response broke off. The log line of the request has the cause.');
  expect(response).toMatchObject({ destroyed: false, writableEnded: false });
});

test.for([
  ['before the first byte', (response: PassThrough) => response.destroy()],
  ['before the last byte', (response: PassThrough) => response.once('data', () => response.destroy())],
] as const)('a request whose receiver leaves %s is logged as failed', async ([, leave], { log }) => {
  const response = new PassThrough();
  leave(response);

  const { outcome } = await stream(Array(100).fill('"a chunk"'), response);

  expect(outcome).toContain('BrokenResponseError');
  const error = { message: 'the client disconnected before the end of the response' };
  await expect.poll(() => log.lines).toMatchObject([{ level: 'ERROR', status: 200, error }]);
});
