import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { renderGatewayResponse } from '../../../serverless/deploy/gateway-responses.ts';
import { FunctionPool } from './function-pool.ts';
import { toHttpResponse } from './http-response.ts';
import { LambdaInstance } from './lambda-instance.ts';

interface Route {
  readonly method: string;
  readonly resource: string;
  readonly path: RegExp;
  /** The function in serverless.yml. */
  readonly name: string;
  /** The file of its handler. */
  readonly handler: string;
}

/** The route of each function. */
export const routes: readonly Route[] = [
  { method: 'POST', resource: '/token', path: /^\/token$/, name: 'createToken', handler: 'create-token' },
  { method: 'POST', resource: '/book', path: /^\/book$/, name: 'createBook', handler: 'create-book' },
  { method: 'GET', resource: '/books', path: /^\/books$/, name: 'listBooks', handler: 'list-books' },
  { method: 'GET', resource: '/book/{id}', path: /^\/book\/([^/]+)$/, name: 'getBook', handler: 'get-book' },
  {
    method: 'PUT',
    resource: '/book/{id}',
    path: /^\/book\/([^/]+)$/,
    name: 'updateBook',
    handler: 'update-book',
  },
  {
    method: 'DELETE',
    resource: '/book/{id}',
    path: /^\/book\/([^/]+)$/,
    name: 'deleteBook',
    handler: 'delete-book',
  },
];

/** What API Gateway responds with for an unknown path or method, and for a malformed one. */
const notFound = renderGatewayResponse('MISSING_AUTHENTICATION_TOKEN');
const badRequest = renderGatewayResponse('DEFAULT_4XX');

/**
 * The packaged functions behind an HTTP server: each request is an event for an instance under AWS's runtime client,
 * as through API Gateway with a proxy integration and `binaryMediaTypes: ['*' + '/*']`.
 */
export class Gateway {
  readonly #pools: Map<Route, FunctionPool>;
  readonly #server: Server;

  private constructor(functionsFolder: string, environment: NodeJS.ProcessEnv) {
    this.#pools = new Map(
      routes.map((route) => [
        route,
        new FunctionPool(() =>
          LambdaInstance.start(
            join(functionsFolder, route.name),
            `handlers/${route.handler}.handler`,
            environment,
          ),
        ),
      ]),
    );
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error) => response.destroy(error));
    });
    // Or a connection would be closed now and then at the moment when a client uses it again.
    this.#server.keepAliveTimeout = 0;
  }

  /**
   * Starts a gateway on a free loopback port.
   *
   * @param functionsFolder - the folder of the unpacked functions
   * @param environment - their environment variables
   */
  static async start(functionsFolder: string, environment: NodeJS.ProcessEnv): Promise<Gateway> {
    const gateway = new Gateway(functionsFolder, environment);
    gateway.#server.listen(0, '127.0.0.1');
    await once(gateway.#server, 'listening');
    return gateway;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const pool of this.#pools.values()) await pool.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', this.baseUrl);
    const route = routes.find(({ method, path }) => method === request.method && path.test(pathname));
    const pool = route && this.#pools.get(route);
    if (!pool) {
      response.writeHead(notFound.status, notFound.headers).end(notFound.body);
      return;
    }
    const id = decode(route.path.exec(pathname)?.[1]);
    if (id === null) {
      response.writeHead(badRequest.status, badRequest.headers).end(badRequest.body);
      return;
    }
    const event = {
      httpMethod: route.method,
      resource: route.resource,
      path: pathname,
      headers: request.headers,
      pathParameters: id === undefined ? null : { id },
      queryStringParameters: searchParams.size === 0 ? null : Object.fromEntries(searchParams),
      body: body.length === 0 ? null : body.toString('base64'),
      isBase64Encoded: body.length > 0,
      requestContext: { path: pathname, requestId: randomUUID() },
    };
    await pool.invoke(event, async (result) => {
      const answer = await toHttpResponse(result);
      response.writeHead(answer.statusCode, answer.headers);
      await pipeline(Readable.from(answer.body), response);
    });
  }
}

/** @returns the decoded segment, or `null` when its percent-encoding is malformed */
function decode(segment: string | undefined): string | undefined | null {
  try {
    return segment && decodeURIComponent(segment);
  } catch {
    return null;
  }
}
