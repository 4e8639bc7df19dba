import { Writable } from 'node:stream';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { StorageUnavailableError } from '../../../lib/books/errors.ts';
import { outcomes } from '../../../lib/http/outcomes.ts';
import type { StreamedResult } from '../../../lib/http/stream-envelope.ts';
import { streamingEndpoint } from '../../../lib/streaming-endpoint.ts';
import { type CapturedLog, captureLog } from '../../support/captured-log.ts';
import '../../support/collect-streams.ts';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { createContext, createEvent } from '../../support/load-handlers.ts';

const secret = 'a secret that is longer than 32 bytes';

const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

let log: CapturedLog;

beforeEach(() => {
  log = captureLog();
});

const config = { signingSecret: secret, corsOrigin: undefined };

/** Calls an endpoint that has this data and collects its response; AWS's own runtime is in test/aws/runtime. */
async function request(
  data: StreamedResult['data'],
  headers: Record<string, string> = {},
): Promise<APIGatewayProxyResult> {
  const handle = async () => ({ data, headers: { Link: '</next>; rel="next"' } });
  const endpoint = streamingEndpoint(config, outcomes.booksRetrieved, handle);
  const Authorization = forgeToken({ secret });
  const event = createEvent({ headers: { Authorization, ...headers } });
  return endpoint(event, createContext()) as Promise<APIGatewayProxyResult>;
}

async function* failAfter(count: number): AsyncGenerator<string> {
  for (let number = 1; number <= count; number += 1) yield `${number}`;
  throw new StorageUnavailableError('the table is gone');
}

describe('streamingEndpoint', () => {
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
      Link: '</next>; rel="next"',
    });
    expect(JSON.parse(response.body)).toEqual({ status: 200, message: 'Books retrieved successfully', data });
  });

  test.each([{}, { 'Accept-Encoding': 'gzip' }])(
    'with %j, a failure is a 503 as long as nothing is sent',
    async (headers) => {
      const response = await request(failAfter(0), headers);

      expect(response).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
      expect(response.headers).not.toHaveProperty('Content-Encoding');
      expect(JSON.parse(response.body)).toEqual({ status: 503, message: 'Service unavailable', data: null });
      expect(log.lines.at(-1)).toMatchObject({ level: 'ERROR', status: 503 });
      // Later, it breaks the body off.
      for (const count of [1, 3]) {
        await expect(request(failAfter(count), headers)).rejects.toThrow('The response broke off');
        const error = { message: 'the table is gone' };
        expect(log.lines.at(-1)).toMatchObject({ level: 'ERROR', status: 200, error });
      }
    },
  );
});

describe('content coding', () => {
  test.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['*;q=0.1, gzip', 'gzip'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
  ])('for Accept-Encoding: %s the body is in %s', async (accepted, coding) => {
    const { headers, body, isBase64Encoded } = await request(['1', '2'], { 'Accept-Encoding': accepted });

    expect(headers).toMatchObject({ 'Content-Encoding': coding, Vary: 'Accept-Encoding' });
    expect(isBase64Encoded).toBe(true);
    const text = decoders[coding]?.(Buffer.from(body, 'base64')).toString() ?? '';
    expect(JSON.parse(text).data).toEqual([1, 2]);
  });

  const noCoding = [
    '',
    'identity',
    'x-unknown',
    'gzip;q=0',
    '*;q=0',
    '*',
    'gzip;q=0.5, *',
    'identity;q=0, *',
    'identity, gzip;q=0.5',
    ';;,=',
    'gzip;q=x',
  ];
  test.each(noCoding)('for Accept-Encoding: %j the body is as it is', async (accepted) => {
    const { headers, body } = await request(['1'], { 'Accept-Encoding': accepted });

    expect(headers).not.toHaveProperty('Content-Encoding');
    expect(headers).toHaveProperty('Vary', 'Accept-Encoding');
    expect(JSON.parse(body).data).toEqual([1]);
  });

  test('reading ends when the client leaves', async () => {
    let ended = false;
    async function* endless() {
      try {
        for (;;) yield `"${'x'.repeat(100_000)}"`;
      } finally {
        ended = true;
      }
    }
    vi.stubGlobal('awslambda', {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: { from: (stream: unknown) => stream },
    });
    const endpoint: unknown = streamingEndpoint(config, outcomes.booksRetrieved, async () => ({
      data: endless(),
    }));
    let received = 0;
    const client = new Writable({
      write(chunk, _, done) {
        received += chunk.length;
        if (received > 1_000_000) client.destroy();
        done();
      },
    });
    const event = createEvent({ headers: { Authorization: forgeToken({ secret }) } });
    const stream = endpoint as (event: unknown, client: Writable, context: unknown) => Promise<void>;

    await expect(stream(event, client, createContext())).rejects.toThrow();

    await expect.poll(() => ended).toBe(true);
  });
});
