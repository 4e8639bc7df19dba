import type { IncomingHttpHeaders } from 'node:http';

/** Headers by name. A header with an array is sent once for each value. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A request. Node adds `Host`, `Content-Length` and `Connection`. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query below the base URL, sent as they are. */
  readonly path: string;
  readonly headers?: RequestHeaders;
  readonly body?: string | Buffer;
  /** Disconnects after about this many bytes of the response, which is then not compared with openapi.yaml. */
  readonly maxResponseBytes?: number;
}

/** A response with its undecoded body, and the request that it belongs to. */
export interface HttpResponse {
  readonly request: HttpRequest;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
