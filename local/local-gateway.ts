import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex, finished } from 'node:stream';
import { preflightHeaders } from '../infrastructure/cors.ts';
import type { GatewayResponse, GatewayResponseType } from '../infrastructure/gateway-responses.ts';
import type { HapiRequest, HapiResponse, HapiServer, HapiServerOptions, HapiToolkit } from './hapi.ts';
import { pages } from './pages.ts';

/** Gives the gateway's own answer for a response type of API Gateway. */
type RenderGatewayResponse = (type: GatewayResponseType) => GatewayResponse;

/** The route that serverless-offline adds for whatever no function has. */
const fallbackRoute = '/{p*}';

/**
 * Completes the options of serverless-offline's HTTP server, so that it adds nothing that API Gateway does not (no
 * compression, no partial content) and hands over what Node would otherwise refuse without a body.
 *
 * @param options - the options that serverless-offline chose
 * @param render - gives the gateway's own answers
 */
export function gatewayOptions(options: HapiServerOptions, render: RenderGatewayResponse): HapiServerOptions {
  const listener = createServer({ requireHostHeader: false });
  listener.on('checkExpectation', (request, response) => listener.emit('request', request, response));
  listener.on('connect', (_request, socket) => endWith(socket, render('MISSING_AUTHENTICATION_TOKEN')));
  return { ...options, listener, compression: false, routes: { response: { ranges: false } } };
}

/**
 * Makes serverless-offline's HTTP server answer as API Gateway does wherever no function answers, and hand requests
 * over as API Gateway does.
 *
 * @param server - the server, with all routes and extensions of serverless-offline
 * @param render - gives the gateway's own answers
 * @param corsOrigin - the origin whose preflight requests are answered; those of no other are
 */
export function actAsGateway(
  server: HapiServer,
  render: RenderGatewayResponse,
  corsOrigin: string | undefined,
): void {
  server.ext('onRequest', async (request, toolkit) => {
    // Without it, neither hapi nor serverless-offline adds CORS headers; the event has the header all the same.
    delete request.headers.origin;
    const methods =
      corsOrigin === undefined || request.method !== 'options' ? [] : findMethods(server, request);
    if (corsOrigin !== undefined && methods.length > 0) {
      const headers = preflightHeaders(methods, corsOrigin);
      return answer(toolkit, { status: 200, headers, body: '' }).takeover();
    }
    const page = request.method === 'get' ? await pages.get(request.path)?.() : undefined;
    if (page !== undefined) {
      return toolkit.response(page.body).header('Content-Type', page.contentType).takeover();
    }
    // hapi would answer HEAD from the routes of GET, and read the bodies of requests that no function is there for.
    if (request.method === 'head' || findRoute(server, request) === fallbackRoute) {
      return answer(toolkit, render('MISSING_AUTHENTICATION_TOKEN')).takeover();
    }
    // Bodies of this type reach a function as base64, like all bodies do through API Gateway (binaryMediaTypes).
    request.headers['content-type'] = 'application/octet-stream';
    return toolkit.continue;
  });
  server.ext('onPreResponse', (request, toolkit) => {
    const type = gatewayResponseType(request);
    if (type !== undefined) return answer(toolkit, render(type));
    (request.response as HapiResponse).charset('');
    // hapi would compare it with the ETag once more, and by looser rules than the function.
    delete request.headers['if-none-match'];
    return toolkit.continue;
  });
  answerMalformedHttp(server.listener, render('DEFAULT_4XX'));
}

/** @returns the methods that functions have for a path */
function findMethods(server: HapiServer, { path, ...request }: HapiRequest): readonly string[] {
  return ['get', 'post', 'put', 'delete']
    .filter((method) => {
      const route = findRoute(server, { ...request, method, path });
      return route !== undefined && route !== fallbackRoute;
    })
    .map((method) => method.toUpperCase());
}

/** @returns the path of the route, or `undefined` for a malformed path, which hapi answers with 400 */
function findRoute(server: HapiServer, { method, path }: HapiRequest): string | undefined {
  try {
    return server.match(method, path)?.path;
  } catch {
    return undefined;
  }
}

/**
 * @returns the response type under which API Gateway would answer, or `undefined` when a function answered
 */
function gatewayResponseType({ response }: HapiRequest): GatewayResponseType | undefined {
  const status = response.isBoom ? response.output.statusCode : response.statusCode;
  // A function that failed or timed out; its status may come from the text of the error.
  if (status === '504') return 'INTEGRATION_TIMEOUT';
  if (typeof status === 'string') return 'DEFAULT_5XX';
  if (!response.isBoom) return undefined;
  if (status === 404) return 'MISSING_AUTHENTICATION_TOKEN';
  if (status === 413) return 'REQUEST_TOO_LARGE';
  return status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX';
}

function answer(toolkit: HapiToolkit, { status, headers, body }: GatewayResponse): HapiResponse {
  const response = toolkit.response(body).code(status);
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  return response.charset('');
}

/**
 * What is no HTTP at all never becomes a request; hapi would answer it without a body. Whole requests before it on the
 * same connection get their own answers first, or the client would take this one for one of theirs.
 */
function answerMalformedHttp(listener: Server, response: GatewayResponse): void {
  const exchanges = new WeakMap<Duplex, ServerResponse[]>();
  const pendingOf = (socket: Duplex) => (exchanges.get(socket) ?? []).filter((own) => !own.writableFinished);
  listener.prependListener('request', ({ socket }, own) => {
    exchanges.set(socket, [...pendingOf(socket), own]);
  });
  listener.removeAllListeners('clientError');
  listener.on('clientError', (_error, socket) => {
    const last = pendingOf(socket).findLast(({ req }) => req.complete);
    if (last) finished(last, () => endWith(socket, response));
    else endWith(socket, response);
  });
}

function endWith(socket: Duplex, { status, headers, body }: GatewayResponse): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const head = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...head.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
