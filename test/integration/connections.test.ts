import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { AttemptHandler } from '../../lib/dynamodb/http-handler.ts';
import { createSelfSignedCertificate } from '../simulators/self-signed-certificate.ts';

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  vi.unstubAllEnvs();
});

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  server.listen(0, host);
  await once(server, 'listening');
  stops.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

const respond: RequestListener = (incoming, outgoing) => {
  incoming.resume().once('end', () => outgoing.writeHead(200, { 'x-amz-crc32': crc32('{}') }).end('{}'));
};

/** A server that sends these bytes as soon as it has got some. */
const sendBytes = (text: string) =>
  createTcpServer((socket) => socket.once('data', () => socket.pause().write(text)));

function startHandler(): AttemptHandler {
  const handler = new AttemptHandler();
  stops.push(() => handler.destroy());
  return handler;
}

const requestTo = (protocol: string, hostname: string, port: number, body: string | Buffer = '{}') => ({
  protocol,
  hostname,
  port,
  method: 'POST',
  path: '/',
  headers: { host: `${hostname}:${port}` },
  body,
});

const ok = { response: { statusCode: 200 } };

test('a database at an IPv6 address', async () => {
  const port = await listen(createServer(respond), '::1');

  await expect(startHandler().handle(requestTo('http:', '[::1]', port))).resolves.toMatchObject(ok);
});

test.each(['http:', 'https:'])(
  '%s a name with several addresses, of which not all can be reached',
  async (protocol) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const server =
      protocol === 'https:' ? createTlsServer(createSelfSignedCertificate(), respond) : createServer(respond);
    const port = await listen(server);
    const addresses = [
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ];
    const lookup = (_host: string, { all, order }: dns.LookupOptions, callback: unknown) => {
      const [first] = order === 'ipv4first' ? addresses.toReversed() : addresses;
      const found = all ? [null, addresses] : [null, first?.address, first?.family];
      setImmediate(() => (callback as (...results: unknown[]) => void)(...found));
    };
    vi.spyOn(dns, 'lookup').mockImplementation(lookup as never);
    syncBuiltinESMExports();

    await expect(startHandler().handle(requestTo(protocol, 'database.test', port))).resolves.toMatchObject(
      ok,
    );
  },
);

test.each([
  ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ['sends no HTTP', 'nonsense\r\n\r\n'],
  ['sends the head of a response twice', `${'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'.repeat(2)}`],
])('an attempt at a server that %s fails at once', async (_name, text) => {
  const port = await listen(sendBytes(text));
  const startedAt = performance.now();

  await expect(startHandler().handle(requestTo('http:', '127.0.0.1', port))).rejects.toMatchObject({
    name: 'AttemptError',
    requestSent: true,
  });

  expect(performance.now() - startedAt).toBeLessThan(1_500);
});

test('interim responses are passed over', async () => {
  const text =
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
  const port = await listen(sendBytes(text));

  await expect(startHandler().handle(requestTo('http:', '127.0.0.1', port))).resolves.toMatchObject(ok);
});

test('connections to a server that responds without reading the request are not kept', async () => {
  const port = await listen(sendBytes('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
  const handler = startHandler();
  const large = Buffer.alloc(8_000_000);
  const attempts = 52; // More than the agent has connections.

  const results = await Promise.allSettled(
    Array.from({ length: attempts }, () => handler.handle(requestTo('http:', '127.0.0.1', port, large))),
  );
  const [last] = await Promise.allSettled([handler.handle(requestTo('http:', '127.0.0.1', port))]);

  expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(50);
  expect(last?.status).toBe('fulfilled');
});

test('no listener and no connection is left over after a thousand attempts, failed ones among them', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  stops.push(() => process.off('warning', onWarning));
  let requests = 0;
  const server = createServer((incoming, outgoing) => {
    requests += 1;
    if (requests % 5 === 0) incoming.socket.destroy();
    else respond(incoming, outgoing);
  });
  const port = await listen(server);
  const handler = startHandler();

  const outcomes = new Set<string>();
  for (let count = 0; count < 1_000; count += 1) {
    await handler.handle(requestTo('http:', '127.0.0.1', port)).then(
      () => outcomes.add('succeeded'),
      (error: Error) => outcomes.add(error.name),
    );
  }

  expect(outcomes).toEqual(new Set(['succeeded', 'AttemptError']));
  const open = await new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  expect(open).toBeLessThanOrEqual(1);
  expect(warnings).toEqual([]);
});
