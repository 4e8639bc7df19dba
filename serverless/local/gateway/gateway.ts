import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { corsHeaders, preflightHeaders } from '../../api-gateway/cors.ts';
import {
  type GatewayResponse,
  type GatewayResponseType,
  renderGatewayResponse,
} from '../../api-gateway/gateway-responses.ts';
import { requestIdHeader } from '../../api-gateway/request-id.ts';
import type { ConsoleLog } from '../console-log.ts';
import type { LoadedFunction } from '../functions/function-loader.ts';
import { invoke } from '../functions/invoke.ts';
import { readDeveloperPage } from '../page/developer-pages.ts';
import { isLoopback, namesAllowedHost } from './allowed-hosts.ts';
import { readBody } from './request-body.ts';

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

/** Longer than proxies keep idle connections, 60 s as a rule: a request on one that we close is lost. */
const keepAliveTimeout = 65_000;

/** A page that was opened as a file, or in a sandboxed frame, has the origin `null`, which is not one to allow. */
const foreignOrigin = (origin: string) =>
  origin === 'null'
    ? 'Scripts of a page without an origin, such as a file, may not call the service: open it from a web server'
    : `Scripts of ${origin} may not call the service: start it with CORS_ORIGIN=${origin} to allow them`;

/**
 * Whether a page of another origin sends a request, which a preflight tells, or the browser of a simple request. A proxy in
 * between, such as that of Vite, may be of the page's own origin, which only the browser knows.
 */
function isCrossOrigin({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' || ['same-site', 'cross-site'].includes(`${headers['sec-fetch-site']}`);
}

/** Makes an HTTP server that invokes functions and responds as API Gateway does. Node itself refuses malformed HTTP. */
export function createGateway({ functions, host, corsOrigin, log }: GatewayOptions): Server {
  const sharedHeaders = corsOrigin === undefined ? {} : corsHeaders(corsOrigin);
  const render = (type: GatewayResponseType) => renderGatewayResponse(type, sharedHeaders);
  let isLocal = true;
  const warnings = new Set<string>();
  const warnOnce = (text: string) => {
    if (!warnings.has(text)) log.logWarning(text);
    warnings.add(text);
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const [path = '', query = ''] = url.split(/\?(.*)/s);
    const normalized = normalizePath(path);
    const isForeign = isLocal && !namesAllowedHost(request, host);
    if (isForeign) warnOnce(foreignHost);
    // Before any response, because a close with unread data resets the connection, and the response is lost.
    const body = await readBody(request);
    if (normalized === undefined || isForeign) return send(response, render('DEFAULT_4XX'));
    const routes = findRoutes(functions(), normalized);
    if (headers.origin !== undefined && headers.origin !== corsOrigin && isCrossOrigin(request)) {
      warnOnce(foreignOrigin(headers.origin));
    }
    if (method === 'OPTIONS' && corsOrigin !== undefined && routes.length > 0) {
      const methods = routes.map(({ event }) => event.method);
      return send(response, { status: 200, headers: preflightHeaders(methods, corsOrigin), body: '' });
    }
    const route = routes.find(({ event }) => event.method === method);
    if (route === undefined) {
      const page = method === 'GET' ? await readDeveloperPage(path, headers.accept) : undefined;
      return send(response, page ?? render('MISSING_AUTHENTICATION_TOKEN'));
    }
    if (body === undefined) return send(response, render('REQUEST_TOO_LARGE'));
    await invoke({ ...route, path, query, body }, request, response);
  }

  // Node's own response to a request without a host would have no envelope.
  const server = createServer({ requireHostHeader: false, keepAliveTimeout });
  server.on('request', async (request, response) => {
    const startedAt = performance.now();
    response.setHeader(requestIdHeader, randomUUID());
    response.once('close', () => log.logRequest(request, response, performance.now() - startedAt));
    try {
      await respond(request, response);
    } catch (error) {
      // A client that hangs up is not a failure of the service.
      if (!request.socket.destroyed) log.logError('A function failed', error);
      if (response.headersSent || request.socket.destroyed) response.destroy();
      else send(response, render('DEFAULT_5XX'));
    }
  });
  // Node's own response to an unknown expectation would have no envelope, so the expectation is ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.once('listening', () => {
    isLocal = isLoopback((server.address() as AddressInfo).address);
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

function send(response: ServerResponse, { status, headers, body }: GatewayResponse): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}
