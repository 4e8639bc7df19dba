import type { Server } from 'node:http';
import { createRequire } from 'node:module';

/** The part of a hapi request that the gateway looks at. */
export interface HapiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string | undefined>;
  readonly response: HapiResponse | HapiBoom;
}

/** A response that a handler made. serverless-offline gives a failed invocation its status as a string. */
export interface HapiResponse {
  readonly isBoom?: false;
  readonly statusCode: number | string;
  charset(charset: string): HapiResponse;
  code(statusCode: number): HapiResponse;
  header(name: string, value: string): HapiResponse;
  takeover(): HapiResponse;
}

/** An error that hapi answers with. */
interface HapiBoom {
  readonly isBoom: true;
  readonly output: { readonly statusCode: number };
}

/** The toolkit of a hapi extension. */
export interface HapiToolkit {
  readonly continue: symbol;
  response(body: string | Buffer): HapiResponse;
}

type HapiExtension = (
  request: HapiRequest,
  toolkit: HapiToolkit,
) => HapiResponse | symbol | Promise<HapiResponse | symbol>;

/** The part of hapi's server options that the gateway sets or looks at. */
export interface HapiServerOptions {
  readonly port?: number | string;
  readonly listener?: Server;
  readonly compression?: false;
  readonly routes?: { readonly response: { readonly ranges: boolean } };
}

/** The part of a hapi server that the gateway uses. */
export interface HapiServer {
  readonly listener: Server;
  ext(event: 'onRequest' | 'onPreResponse', extension: HapiExtension): void;
  match(method: string, path: string): { readonly path: string } | null;
  start(): Promise<void>;
  stop(options: { readonly timeout: number }): Promise<void>;
}

type HapiServerConstructor = new (options: HapiServerOptions) => HapiServer;

/**
 * Has every hapi server of serverless-offline made by a factory. serverless-offline has no hook of its own for this;
 * it imports hapi only once it starts, and by the name `Server`, so that replacing the export before is enough.
 *
 * @param createServer - makes a server with the given options, with hapi's own constructor at hand
 */
export function replaceHapiServer(
  createServer: (Server: HapiServerConstructor, options: HapiServerOptions) => HapiServer,
): void {
  const requireFromOffline = createRequire(createRequire(import.meta.url).resolve('serverless-offline'));
  const hapi: { Server: HapiServerConstructor } = requireFromOffline('@hapi/hapi');
  const { Server } = hapi;
  hapi.Server = new Proxy(Server, { construct: (_target, [options]) => createServer(Server, options) });
}
