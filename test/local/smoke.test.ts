import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { formatGatewayReport } from '../../tools/smoke/gateway-report.ts';
import { type CaseResult, runSuite } from '../conformance/run-suite.ts';
import { groupNames } from '../conformance/suite.ts';
import { testSettings } from './local-service.ts';
import { useLocalService } from './use-local-service.ts';

/** Enough that the suite treats the catalog as large. */
const largeBooks = 4;
const largeTitle = 'x'.repeat(390 * 1024);

const local = useLocalService();
let gateway: ApiGateway;

beforeAll(async () => {
  for (let year = 0; year < largeBooks; year += 1)
    await local.send('POST', '/book', { title: largeTitle, year });
  gateway = await startApiGateway(local.baseUrl);
});

afterEach(() => vi.restoreAllMocks());

afterAll(() => gateway.stop());

test('a stage with many books behind API Gateway passes, a few requests at a time, and keeps its books', async () => {
  const before = await listIds();

  const groups = ['content-type', 'list-books', 'unknown-paths', 'sizes', 'compression', 'paging'];
  const { exitCode, lines, cases } = await smoke(groups);

  expect(lines.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect(exitCode).toBe(0);
  expect(lines).toContain('The catalog is large: lists are read in pages, from the first book of this run.');
  expect(lines).toContain('paging: 2 not run (they read the whole catalog)');
  expect(gateway.mostInFlight).toBeGreaterThan(1);
  expect(gateway.mostInFlight).toBeLessThanOrEqual(4);
  expect(await listIds()).toEqual(before);
  // Nothing of it was read but the beginning.
  expect(gateway.wholeLists).toBe(1);

  const different = 'differs from the local service: ';
  expect(lines.join('\n')).toContain(`${different}A body of more than 10 MB is too large`);
  expect(lines.join('\n')).toContain(`${different}GET /nowhere is not found with a token, valid or not`);
  expect(lines.join('\n')).not.toContain(`${different}GET /nowhere is not found\n`);
  const report = formatGatewayReport('API Gateway at stage test', cases);
  expect(report).toContain('413 (content-type: text/plain) `HTTP content length exceeded 10485760 bytes.`');
  expect(report).toContain('`GET /nowhere` with `Authorization`: 400 (content-type: application/json)');
  expect(report).not.toContain(local.headers.Authorization.slice(0, 20));
});

test('a stage with wrong responses of its functions fails', async () => {
  gateway.damage = (body) => body.replace('Book updated successfully', 'Book kept');

  const { exitCode, lines } = await smoke(['update-book']);

  gateway.damage = (body) => body;
  expect(exitCode).toBe(1);
  expect(lines.filter((line) => line.includes('FAILED'))).not.toEqual([]);
});

async function smoke(groups: readonly string[]) {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => lines.push(...String(line).split('\n')));
  let cases: readonly CaseResult[] = [];
  const exitCode = await runSuite({
    baseUrl: gateway.baseUrl,
    username: testSettings.AUTH_USERNAME,
    password: testSettings.AUTH_PASSWORD,
    without: groupNames.filter((name) => !groups.includes(name)),
    requestsAtOnce: 4,
    toleratesGateway: true,
    report: (gatewayCases) => {
      cases = gatewayCases;
    },
  });
  return { exitCode, lines: lines.map((line) => line.trim()), cases };
}

async function listIds(): Promise<number[]> {
  const { envelope } = await local.send('GET', '/books');
  return (envelope.data as { id: number }[]).map(({ id }) => id);
}

/** API Gateway before a service. */
interface ApiGateway {
  readonly baseUrl: string;
  mostInFlight: number;
  /** How many lists were requested without a limit, with a token. */
  wholeLists: number;
  /** Changes the bodies of responses. */
  damage(body: string): string;
  stop(): void;
}

/** Passes requests on, and responds as API Gateway was seen to do where the local server does not. */
async function startApiGateway(target: string): Promise<ApiGateway> {
  let inFlight = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = '', headers } = request;
    const body = await buffer(request);
    const isUnknown = !/^\/(?:token|books?|book\/[^/]+)$/.test(url.split('?', 1)[0] ?? '');
    if (body.length > 10 * 1024 * 1024) {
      response.writeHead(413, { 'Content-Type': 'text/plain' });
      response.end('HTTP content length exceeded 10485760 bytes.');
    } else if (body.length > 4.4 * 1024 * 1024 || (isUnknown && headers.authorization !== undefined)) {
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.end('{"status":400,"message":"Bad request","data":null}');
    } else {
      if (method === 'GET' && url === '/books' && headers.authorization) gateway.wholeLists += 1;
      const outgoing = sendRequest(target, { method, path: url, headers, agent: false }).end(body);
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      const { connection: _, 'content-length': __, 'transfer-encoding': ___, ...received } = incoming.headers;
      const text = gateway.damage((await buffer(incoming)).toString('latin1'));
      response.writeHead(incoming.statusCode ?? 0, received).end(text, 'latin1');
    }
  };
  const server = createServer(async (request, response) => {
    inFlight += 1;
    gateway.mostInFlight = Math.max(gateway.mostInFlight, inFlight);
    await serve(request, response);
    inFlight -= 1;
  });
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const gateway: ApiGateway = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mostInFlight: 0,
    wholeLists: 0,
    damage: (body) => body,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return gateway;
}
