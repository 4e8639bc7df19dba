import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { connect } from '../support/book-table.ts';

interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const received: ReceivedRequest[] = [];
/** What the server's clock is ahead of ours, in milliseconds. */
let clockSkewMs = 0;
let server: Server;
let endpoint: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: await buffer(request) });
    const date = new Date(Date.now() + clockSkewMs).toUTCString();
    response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0', Date: date }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
});

afterEach(() => {
  vi.unstubAllEnvs();
  clockSkewMs = 0;
  received.length = 0;
});

test.each([
  ['temporary credentials, as in Lambda', 'a session token/with+signs='],
  ['a user’s credentials', ''],
])('%s: every request has the signature that AWS computes', async (_name, sessionToken) => {
  vi.stubEnv('AWS_SESSION_TOKEN', sessionToken);
  const client = connect(endpoint);

  for (const id of [1, 2, 3]) await client.send(new GetCommand({ TableName: 'bücher', Key: bookKey(id) }));

  expect(received).toHaveLength(3);
  for (const request of received) {
    expect(request.headers.authorization).toBe(authorizationOf(request));
    expect(request.headers['x-amz-security-token'] ?? '').toBe(sessionToken);
  }
});

test('a clock that is wrong is corrected from the second request on, as AWS refuses what is 5 minutes old', async () => {
  clockSkewMs = 60 * 60 * 1000;
  const client = connect(endpoint);

  for (const id of [1, 2]) await client.send(new GetCommand({ TableName: 'books', Key: bookKey(id) }));

  const [first, second] = received.map(({ headers }) => parseTimestamp(String(headers['x-amz-date'])));
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(clockSkewMs - 5_000);
});

test('the service says who it is, which CloudTrail keeps', async () => {
  const client = connect(endpoint);

  await client.send(new GetCommand({ TableName: 'books', Key: bookKey(1) }));

  const [request] = received;
  expect(request?.headers['user-agent']).toBe('book-catalog');
  expect(request?.headers).not.toHaveProperty('x-amz-user-agent');
});

/** @param timestamp - `YYYYMMDD'T'HHMMSS'Z'` */
function parseTimestamp(timestamp: string): number {
  return Date.parse(timestamp.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
}

/** "Create a signed AWS API request", step by step: the engines look at no signature, so that this computes it again. */
function authorizationOf({ method, path, headers, body }: ReceivedRequest): string {
  const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
  const hmac = (secret: string | Buffer, data: string) => createHmac('sha256', secret).update(data).digest();
  const [, signedHeaders = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
  const names = signedHeaders.split(';');
  expect(names).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-target']));
  const canonicalRequest = [
    method,
    path,
    '',
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    signedHeaders,
    sha256(body),
  ].join('\n');
  const region = 'us-east-1';
  const timestamp = String(headers['x-amz-date']);
  const day = timestamp.slice(0, 8);
  const scope = `${day}/${region}/dynamodb/aws4_request`;
  const stringToSign = ['AWS4-HMAC-SHA256', timestamp, scope, sha256(canonicalRequest)].join('\n');
  const signingKey = [day, region, 'dynamodb', 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${process.env.AWS_SECRET_ACCESS_KEY}`,
  );
  const signature = hmac(signingKey, stringToSign).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
}
