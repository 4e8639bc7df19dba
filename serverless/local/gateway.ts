import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { corsHeaders, preflightHeaders } from '../cors.ts';
import { type GatewayResponse, type GatewayResponseType, renderGatewayResponse } from '../gateway-responses.ts';
import { isLoopback, namesAllowedHost } from './allowed-hosts.ts';
import type { ConsoleLog } from './console-log.ts';
import { readDeveloperPage } from './developer-pages.ts';
import type { LoadedFunction } from './function-loader.ts';
import { invoke, requestIdHeader } from './invoke.ts';
import { isBodyDeclined, readBody } from './request-body.ts';

/**
 * Longer than clients keep an idle connection, so that none sends a request while the server closes it. Load balancers,
 * for example, close theirs after 60 s.
 */
const keepAliveTimeoutMs = 65_000;

interface GatewayOptions {
  /** The functions as they are now. */
  readonly functions: () => readonly LoadedFunction[];
  /** The host in `--host`. */
  readonly host: string;
  readonly corsOrigin: string | undefined;
  readonly log: Pick<ConsoleLog, 'logRequest' | 'logWarning' | 'logError'>;
}

const foreignHost =
  'A request was refused: its Host is neither this machine nor the one in --host, as in an attack by DNS rebinding';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Resolves when every earlier response on the connection is sent. */
  readonly turn: Promise<unknown>;
  /** Resolves when this response is sent as well. */
  readonly done: Promise<unknown>;
}

/**
 * Makes an HTTP server that invokes functions and responds as API Gateway does. A connection has one request in
 * progress at a time, and other connections have their turn before the next one. Requests of a client that does not
 * read its responses stay in the network.
 */
export function createGateway({ functions, host, corsOrigin, log }: GatewayOptions): Server {
  const sharedHeaders = corsOrigin === undefined ? {} : corsHeaders(corsOrigin);
  const render = (type: GatewayResponseType) => renderGatewayResponse(type, sharedHeaders);
  const latest = new WeakMap<Duplex, Exchange>();
  let isLocal = true;
  let hasRefusedHost = false;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    // A target may be a whole URL (RFC 9112 section 3.2.2).
    const [path = '', query = ''] = url.replace(/^[^/]+\/\/[^/]*/, '').split(/\?(.*)/s);
    const normalized = normalizePath(path);
    const isForeign = isLocal && !namesAllowedHost(request, host);
    if (isForeign && !hasRefusedHost) log.logWarning(foreignHost);
    hasRefusedHost ||= isForeign;
    // What follows on the connection might not be a request.
    if (!hasSupportedFraming(request) || isBodyDeclined(request)) response.setHeader('Connection', 'close');
    if (!hasSupportedFraming(request)) return send(response, render('DEFAULT_4XX'));
    // Before any response, because a close with unread data resets the connection, and the response is lost.
    const body = await readBody(request);
    if (normalized === undefined || isForeign) return send(response, render('DEFAULT_4XX'));
    const routes = findRoutes(functions(), normalized);
    if (method === 'OPTIONS' && corsOrigin !== undefined && routes.length > 0) {
      const methods = routes.map(({ event }) => event.method);
      return send(response, { status: 200, headers: preflightHeaders(methods, corsOrigin), body: '' });
    }
    const route = routes.find(({ event }) => event.method === method);
    if (route === undefined) {
      const page = method === 'GET' ? await readDeveloperPage(path, request.headers.accept) : undefined;
      return send(response, page ?? render('MISSING_AUTHENTICATION_TOKEN'));
    }
    if (body === undefined) return send(response, render('REQUEST_TOO_LARGE'));
    await invoke({ ...route, path, query, body }, request, response);
  }

  const server = createServer({ requireHostHeader: false, keepAliveTimeout: keepAliveTimeoutMs });
  // A client that has ended its half of the connection still gets its responses.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('request', (request, response) => {
    const { socket } = request;
    response.setHeader(requestIdHeader, randomUUID());
    const previous = latest.get(socket);
    // After Node, which resumes the socket at the end of each request.
    if (previous !== undefined) queueMicrotask(() => socket.pause());
    // After a turn of the event loop, so that other connections are served between two of its requests.
    const turn = previous?.done.then(() => setImmediate()) ?? Promise.resolve();
    const done = turn.then(async () => {
      // The response before, or the client, has closed the connection.
      if (!socket.writable) return;
      const startedAt = performance.now();
      const closed = response.closed ? undefined : new Promise((resolve) => response.once('close', resolve));
      try {
        await respond(request, response);
      } catch (error) {
        // A client that hangs up is not a failure of the service.
        if (!socket.destroyed) log.logError('A function failed', error);
        if (response.headersSent || socket.destroyed) response.destroy();
        else send(response, render('DEFAULT_5XX'));
      }
      await closed;
      log.logRequest(request, response, performance.now() - startedAt);
      if (latest.get(socket) !== exchange) return;
      latest.delete(socket);
      socket.resume();
    });
    const exchange = { request, response, turn, done };
    latest.set(socket, exchange);
    // Node loses what came in one packet with an `Upgrade`. After a close, the client sends it again.
    if (request.headers.upgrade !== undefined) response.setHeader('Connection', 'close');
  });
  server.once('listening', () => {
    isLocal = isLoopback((server.address() as AddressInfo).address);
  });
  server.on('checkContinue', (request, response) => {
    if (!isBodyDeclined(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', ({ socket }) => sendAndClose(socket, render('MISSING_AUTHENTICATION_TOKEN')));
  server.on('clientError', async (_error, socket) => {
    // At the end of the client's half, Node would close the connection before the response of this handler.
    socket.removeAllListeners('end');
    const exchange = latest.get(socket);
    // Complete requests get their own responses first. Otherwise the client would take this one for one of those.
    await (exchange?.request.complete ? exchange.done : exchange?.turn);
    if (exchange?.request.complete === false && exchange.response.headersSent) socket.destroy();
    else sendAndClose(socket, render('DEFAULT_4XX'));
  });
  return server;
}

/** @returns the path with each segment encoded in the same way, or `undefined` when its encoding is malformed */
function normalizePath(path: string): string | undefined {
  try {
    const segments = path.split('/').map(decodeURIComponent);
    return segments.map(encodeURIComponent).join('/');
  } catch {
    return undefined;
  }
}

/** Finds the events with a path, whatever their method, and the parameters of the path. */
function findRoutes(functions: readonly LoadedFunction[], path: string) {
  return functions.flatMap((definition) =>
    definition.events.flatMap((event) => {
      const parameters = matchPath(event.path, path);
      return parameters === undefined ? [] : [{ definition, event, parameters }];
    }),
  );
}

/** @returns the path parameters, or `undefined` when the path does not match. Ignores a slash at the end (rule 1.6). */
function matchPath(template: string, path: string): Record<string, string> | undefined {
  const pattern = template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const match = new RegExp(`^${pattern}/?$`).exec(path);
  if (match === null) return undefined;
  const parameters = Object.entries(match.groups ?? {});
  return Object.fromEntries(parameters.map(([name, value]) => [name, decodeURIComponent(value)]));
}

/** Tells whether a message is HTTP/1.0 without a transfer coding, or HTTP/1.1 with `chunked` at most (RFC 9112 section 6.1). */
function hasSupportedFraming({ httpVersion, headers: { 'transfer-encoding': coding } }: IncomingMessage): boolean {
  if (coding === undefined) return httpVersion === '1.0' || httpVersion === '1.1';
  return httpVersion === '1.1' && coding.toLowerCase() === 'chunked';
}

function send(response: ServerResponse, { status, headers, body }: GatewayResponse): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Responds to a malformed request or a CONNECT, for which Node makes no response object. */
function sendAndClose(socket: Duplex, { status, headers, body }: GatewayResponse): void {
  // Each further chunk of a malformed request is an error as well, after the response.
  if (!socket.writable) return;
  const own = { [requestIdHeader]: randomUUID(), 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const head = Object.entries({ ...headers, ...own });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}
