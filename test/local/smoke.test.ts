import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { formatGatewayReport } from '../../tools/smoke/gateway-report.ts';
import { type CaseResult, runSuite } from '../conformance/run-suite.ts';
import { groupNames } from '../conformance/suite.ts';
import { authorize, createDataFolder, LocalService, testSettings } from './local-service.ts';

/** Enough for a catalog that the suite takes for a large one. */
const largeBooks = 4;
const largeTitle = 'x'.repeat(390 * 1024);

const badRequest = '{"status":400,"message":"Bad request","data":null}';
const paths = /^\/(?:token|books?|book\/[^/]+)$/;

let service: LocalService;
let dataFolder: string;
let gateway: ApiGateway;
let headers: { Authorization: string };

beforeAll(async () => {
  dataFolder = await createDataFolder();
  service = await LocalService.start({ DB_PATH: dataFolder });
  headers = await authorize(service.baseUrl);
  for (let year = 0; year < largeBooks; year += 1) {
    const body = JSON.stringify({ title: largeTitle, year });
    await fetch(`${service.baseUrl}/book`, { method: 'POST', headers, body });
  }
  gateway = await ApiGateway.start(service.baseUrl);
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  gateway.stop();
  await service.stop();
  await rm(dataFolder, { recursive: true, force: true });
});

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
  expect(report).not.toContain(headers.Authorization.slice(0, 20));
});

test('a stage whose functions do something else fails', async () => {
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
  const response = await fetch(`${service.baseUrl}/books`, { headers: await authorize(service.baseUrl) });
  const { data } = (await response.json()) as { data: { id: number }[] };
  return data.map(({ id }) => id);
}

/** Passes requests on, and does what others have seen API Gateway do where the local server does something else. */
class ApiGateway {
  mostInFlight = 0;
  /** How many lists were asked for without a limit, by those who may read them. */
  wholeLists = 0;
  /** Changes the bodies of responses. */
  damage = (body: string): string => body;
  #inFlight = 0;
  readonly #target: string;
  readonly #server: Server;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer(async (request, response) => {
      this.#inFlight += 1;
      this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
      await this.#serve(request, response);
      this.#inFlight -= 1;
    });
    this.#server.keepAliveTimeout = 0;
  }

  static async start(target: string): Promise<ApiGateway> {
    const gateway = new ApiGateway(target);
    gateway.#server.listen(0, '127.0.0.1');
    await once(gateway.#server, 'listening');
    return gateway;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { authorization } = request.headers;
    if (body.length > 10 * 1024 * 1024) {
      response.writeHead(413, { 'Content-Type': 'text/plain' });
      response.end('HTTP content length exceeded 10485760 bytes.');
      return;
    }
    const unknown = !paths.test(request.url?.split('?')[0] ?? '');
    if (body.length > 4.4 * 1024 * 1024 || (unknown && authorization !== undefined)) {
      response.writeHead(400, { 'Content-Type': 'application/json' }).end(badRequest);
      return;
    }
    if (request.method === 'GET' && request.url === '/books' && authorization) this.wholeLists += 1;
    const answer = await passOn(this.#target, request, body);
    const text = this.damage(answer.body.toString('latin1'));
    response.writeHead(answer.status, answer.headers).end(text, 'latin1');
  }
}

/** Sends a request as it came, which `fetch` does not. */
async function passOn(target: string, { method, url, headers: sent }: IncomingMessage, body: Buffer) {
  const outgoing = sendRequest(target, { method, path: url, headers: sent, agent: false });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { connection: _, 'content-length': __, 'transfer-encoding': ___, ...received } = incoming.headers;
  return { status: incoming.statusCode ?? 0, headers: received, body: await buffer(incoming) };
}
