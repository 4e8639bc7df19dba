import { createHash, createHmac } from 'node:crypto';
import dns from 'node:dns';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { HttpRequest } from '@smithy/core/protocols';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bookKey } from '../../lib/dynamodb/keys.ts';
import { createRequestHandler } from '../../lib/dynamodb/request-handler.ts';
import { listen as listenOnLoopback } from '../../tools/runtime/loopback-server.ts';
import { loopbackCertificate } from '../simulators/loopback-certificate.ts';
import { connect } from '../support/book-table.ts';

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  const port = await listenOnLoopback(server, 0, host);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return port;
}

describe('connections', () => {
  const ok = { response: { statusCode: 200 } };
  const respond: RequestListener = (incoming, outgoing) => {
    incoming.resume().once('end', () => outgoing.writeHead(200, { 'x-amz-crc32': crc32('{}') }).end('{}'));
  };

  /** A server that sends these bytes as soon as it has got some. */
  const sendBytes = (text: string) =>
    createTcpServer((socket) => socket.once('data', () => socket.pause().write(text)));

  function startHandler() {
    const handler = createRequestHandler();
    onTestFinished(() => handler.destroy());
    return handler;
  }

  const requestTo = (protocol: string, hostname: string, port: number, body: string | Buffer = '{}') =>
    new HttpRequest({
      ...{ protocol, hostname, port, method: 'POST', path: '/', body },
      headers: { host: `${hostname}:${port}` },
    });

  test('a database at an IPv6 address', async () => {
    const port = await listen(createServer(respond), '::1');

    expect(await startHandler().handle(requestTo('http:', '[::1]', port))).toMatchObject(ok);
  });

  test.each(['http:', 'https:'])(
    '%s a name with several addresses, of which not all can be reached',
    async (protocol) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      const isTls = protocol === 'https:';
      const port = await listen(
        isTls ? createTlsServer(loopbackCertificate, respond) : createServer(respond),
      );
      const addresses = [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ];
      const lookup = (_host: string, { all, family }: dns.LookupOptions, callback: unknown) => {
        const first = family === 4 ? addresses[1] : addresses[0];
        const found = all ? [null, addresses] : [null, first?.address, first?.family];
        setImmediate(() => (callback as (...results: unknown[]) => void)(...found));
      };
      vi.spyOn(dns, 'lookup').mockImplementation(lookup as never);
      syncBuiltinESMExports();

      expect(await startHandler().handle(requestTo(protocol, 'database.test', port))).toMatchObject(ok);
    },
  );

  test.each([
    ['sends no HTTP', 'nonsense\r\n\r\n'],
    ['sends the head of a response twice', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'.repeat(2)],
  ])('an attempt at a server that %s fails at once', async (_name, text) => {
    const port = await listen(sendBytes(text));
    const startedAt = performance.now();

    await expect(startHandler().handle(requestTo('http:', '127.0.0.1', port))).rejects.toThrow();
    expect(performance.now() - startedAt).toBeLessThan(1_500);
  });

  test('interim responses are passed over', async () => {
    const heads = ['100 Continue', '103 Early Hints', '200 OK\r\nContent-Length: 2'];
    const port = await listen(sendBytes(`${heads.map((head) => `HTTP/1.1 ${head}\r\n\r\n`).join('')}{}`));

    expect(await startHandler().handle(requestTo('http:', '127.0.0.1', port))).toMatchObject(ok);
  });

  test('connections to a server that responds without reading the request are not kept', async () => {
    const port = await listen(sendBytes('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
    const handler = startHandler();
    const attempt = (body?: Buffer) => handler.handle(requestTo('http:', '127.0.0.1', port, body));
    // More than the agent has connections.
    const attempts = Array.from({ length: 52 }, () => attempt(Buffer.alloc(8_000_000)));

    const results = await Promise.allSettled(attempts);

    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(50);
    expect(await attempt()).toMatchObject(ok);
  });

  test('no listener and no connection is left over after a thousand attempts, failed ones among them', async () => {
    const onWarning = vi.fn();
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    let requests = 0;
    const server = createServer((incoming, outgoing) => {
      requests += 1;
      if (requests % 5 === 0) incoming.socket.destroy();
      else respond(incoming, outgoing);
    });
    const port = await listen(server);
    const handler = startHandler();

    const results = new Set<string>();
    for (let count = 0; count < 1_000; count += 1) {
      const attempt = handler.handle(requestTo('http:', '127.0.0.1', port));
      results.add(await attempt.then(() => 'succeeded').catch(({ code }) => code));
    }

    expect(results).toEqual(new Set(['succeeded', 'ECONNRESET']));
    const open = await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    expect(open).toBeLessThanOrEqual(1);
    expect(onWarning).not.toHaveBeenCalled();
  });
});

describe('signed requests', () => {
  interface ReceivedRequest {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: Buffer;
  }

  /** Sends requests for books to a server whose clock is ahead of ours. */
  async function sendRequests(count: number, clockSkewMs = 0): Promise<readonly ReceivedRequest[]> {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
    const received: ReceivedRequest[] = [];
    const port = await listen(
      createServer(async (request, response) => {
        const { method = '', url: path = '', headers } = request;
        received.push({ method, path, headers, body: await buffer(request) });
        response.writeHead(200, { Date: new Date(Date.now() + clockSkewMs).toUTCString() }).end('{}');
      }),
    );
    const client = connect(`http://127.0.0.1:${port}`);
    for (let id = 1; id <= count; id += 1) {
      await client.send(new GetCommand({ TableName: 'bücher', Key: bookKey(id) }));
    }
    return received;
  }

  test.each(['a session token/with+signs=', ''])(
    'with the session token %j, every request has the signature that AWS computes',
    async (sessionToken) => {
      vi.stubEnv('AWS_SESSION_TOKEN', sessionToken);

      const received = await sendRequests(3);

      expect(received).toHaveLength(3);
      for (const request of received) {
        expect(request.headers.authorization).toBe(authorizationOf(request));
        expect(request.headers['x-amz-security-token'] ?? '').toBe(sessionToken);
        // CloudTrail keeps who asked.
        expect(request.headers['user-agent']).toBe('book-catalog');
      }
    },
  );

  test('a clock that is wrong is corrected from the second request on: AWS refuses what is 5 minutes old', async () => {
    const clockSkewMs = 60 * 60 * 1000;
    const [first = 0, second = 0] = (await sendRequests(2, clockSkewMs)).map(({ headers }) =>
      Date.parse(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5')),
    );

    expect(second - first).toBeGreaterThan(clockSkewMs - 5_000);
  });

  /** "Create a signed AWS API request", step by step: the engines look at no signature, so this computes it again. */
  function authorizationOf({ method, path, headers, body }: ReceivedRequest): string {
    const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
    const hmac = (secret: string | Buffer, data: string) =>
      createHmac('sha256', secret).update(data).digest();
    const [, signedHeaders = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
    const names = signedHeaders.split(';');
    expect(names).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-target']));
    const canonicalHeaders = names.map((name) => `${name}:${headers[name]}`);
    const canonicalRequest = [method, path, '', ...canonicalHeaders, '', signedHeaders, sha256(body)].join(
      '\n',
    );
    const timestamp = String(headers['x-amz-date']);
    const parts = [timestamp.slice(0, 8), 'us-east-1', 'dynamodb', 'aws4_request'];
    const scope = parts.join('/');
    const stringToSign = ['AWS4-HMAC-SHA256', timestamp, scope, sha256(canonicalRequest)].join('\n');
    const signingKey = parts.reduce<string | Buffer>(hmac, `AWS4${process.env.AWS_SECRET_ACCESS_KEY}`);
    const signature = hmac(signingKey, stringToSign).toString('hex');
    return `AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
  }
});
