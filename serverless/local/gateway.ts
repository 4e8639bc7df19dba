import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  corsHeaders,
  type GatewayResponse,
  type GatewayResponseType,
  preflightHeaders,
  renderGatewayResponse,
} from '../deploy/gateway-responses.ts';
import { isLoopback, namesAllowedHost } from './allowed-hosts.ts';
import type { LoadedFunction } from './functions.ts';
import { invoke } from './invoke.ts';
import { readPage } from './pages.ts';
import { maxBodyBytes, RequestBodies } from './request-bodies.ts';

/**
 * Longer than clients keep an idle connection, so that none sends a request while the server closes it. The
 * back ends of load balancers use the same.
 */
const keepAliveTimeout = 65_000;

export interface GatewayOptions {
  /** The functions as they are now. */
  readonly functions: () => readonly LoadedFunction[];
  /** The host that people named to listen on. */
  readonly host: string;
  /** Is called for each request that is refused because it names another host. */
  readonly onForeignHost: () => void;
  readonly corsOrigin: string | undefined;
  /** Is called for each request, once its response is sent or its client is gone. */
  readonly onResponse: (request: IncomingMessage, response: ServerResponse, durationMs: number) => void;
  readonly onError: (error: unknown) => void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves when every earlier response on the connection is sent. */
  readonly turn: Promise<unknown>;
  /** Resolves when this response is sent as well. */
  readonly done: Promise<unknown>;
}

/**
 * Makes an HTTP server that invokes functions and responds as API Gateway does. A connection has one request in progress
 * at a time; what a client sends without reading responses stays in the network, so it holds up nobody else.
 */
export function createGateway(options: GatewayOptions): Server {
  const { functions, host, onForeignHost, corsOrigin, onResponse, onError } = options;
  const sharedHeaders = corsOrigin === undefined ? {} : corsHeaders(corsOrigin);
  const render = (type: GatewayResponseType) => renderGatewayResponse(type, sharedHeaders);
  const latest = new WeakMap<Duplex, Exchange>();
  const bodies = new RequestBodies();
  let isLocal = true;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const { path, query } = splitTarget(url);
    const segments = decodeSegments(path);
    const isForeign = isLocal && !namesAllowedHost(request, host);
    if (isForeign) onForeignHost();
    // What follows might not be a request.
    if (!isUnderstood(request)) response.setHeader('Connection', 'close');
    if (segments === undefined || isForeign || !isUnderstood(request))
      return send(response, render('DEFAULT_4XX'));
    const routes = functions().flatMap((own) =>
      own.events.flatMap((event) => {
        const parameters = matchPath(event.path, segments);
        return parameters === undefined ? [] : [{ own, event, parameters }];
      }),
    );
    if (method === 'OPTIONS' && corsOrigin !== undefined && routes.length > 0) {
      const methods = routes.map(({ event }) => event.method);
      return send(response, { status: 200, headers: preflightHeaders(methods, corsOrigin), body: '' });
    }
    const route = routes.find(({ event }) => event.method === method);
    if (route === undefined) {
      const page = method === 'GET' ? await readPage(path, request.headers.accept) : undefined;
      return send(response, page ?? render('MISSING_AUTHENTICATION_TOKEN'));
    }
    const body = await bodies.read(request, response);
    if (typeof body === 'string') return send(response, render(body));
    await invoke(route, { request, path, query, body }, response);
  }

  const server = createServer({ requireHostHeader: false, keepAliveTimeout });
  server.on('request', (request, response) => {
    const { socket } = request;
    const previous = latest.get(socket);
    if (previous !== undefined) socket.pause();
    const turn = previous?.done ?? Promise.resolve();
    const done = turn.then(async () => {
      // No request after a response that closes the connection.
      if (socket.writableEnded) return;
      const startedAt = performance.now();
      const closed = response.closed ? undefined : new Promise((resolve) => response.once('close', resolve));
      try {
        await respond(request, response);
      } catch (error) {
        // A client that hangs up is no failure of the service.
        if (!socket.destroyed) onError(error);
        if (response.headersSent || socket.destroyed) response.destroy();
        else send(response, render('DEFAULT_5XX'));
      }
      await closed;
      onResponse(request, response, performance.now() - startedAt);
      if (latest.get(socket) !== exchange) return;
      latest.delete(socket);
      socket.resume();
    });
    const exchange = { request, response, turn, done };
    latest.set(socket, exchange);
    // Node loses what came in one packet with an `Upgrade`; after a close the client sends that again.
    if (request.headers.upgrade !== undefined) response.setHeader('Connection', 'close');
  });
  server.once('listening', () => {
    isLocal = isLoopback((server.address() as AddressInfo).address);
  });
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length']) > maxBodyBytes) response.setHeader('Connection', 'close');
    else response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', ({ socket }) => endWith(socket, render('MISSING_AUTHENTICATION_TOKEN')));
  server.on('clientError', async (_error, socket) => {
    const exchange = latest.get(socket);
    // Whole requests get their own responses first, or the client would take this one for one of theirs.
    await (exchange?.request.complete ? exchange.done : exchange?.turn);
    if (exchange?.request.complete === false && exchange.response.headersSent) socket.destroy();
    else endWith(socket, render('DEFAULT_4XX'));
  });
  return server;
}

/** A target may be a whole URL (RFC 9112 section 3.2.2). */
function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const start = target.startsWith('/') ? 0 : target.indexOf('/', target.indexOf('//') + 2);
  const mark = target.indexOf('?');
  const path = target.slice(start, mark === -1 ? undefined : mark);
  const query = mark === -1 ? '' : target.slice(mark + 1);
  return { path, query };
}

/** @returns the segments, without a slash at the end (specification 1.6); `undefined` when an encoding is malformed */
function decodeSegments(path: string): readonly string[] | undefined {
  try {
    return path
      .replace(/(?<=.)\/$/, '')
      .split('/')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** @returns the path parameters; `undefined` when the path does not match */
function matchPath(template: string, segments: readonly string[]): Record<string, string> | undefined {
  const expected = template.split('/');
  if (expected.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, name] of expected.entries()) {
    const segment = segments[index] ?? '';
    if (name.startsWith('{') && segment !== '') parameters[name.slice(1, -1)] = segment;
    else if (name !== segment) return undefined;
  }
  return parameters;
}

/** Tells whether the version is 1.0 or 1.1, and the body is encoded in chunks at most (RFC 9112 section 6.1). */
function isUnderstood({ httpVersionMajor, headers }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && (headers['transfer-encoding'] ?? 'chunked').toLowerCase() === 'chunked';
}

function send(response: ServerResponse, { status, headers, body }: GatewayResponse): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Responds on a connection where Node has no response object: the request is malformed, or CONNECT. */
function endWith(socket: Duplex, { status, headers, body }: GatewayResponse): void {
  if (!socket.writable) return void socket.destroy();
  const head = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}
