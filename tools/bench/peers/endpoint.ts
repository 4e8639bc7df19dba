import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';

/** The path parameter of `/book/:id`, and the parsed JSON body: `undefined` when there is none or it is no JSON. */
type PeerRequest = { readonly id?: string | undefined; readonly body?: unknown };

/** The envelope, which every framework sends as JSON with `status` as the HTTP status. */
export type PeerResponse = { readonly status: number; readonly message: string; readonly data: unknown };

/** An endpoint without a framework. Every peer serves the same ones, so that they differ in nothing else. */
export interface PeerEndpoint {
  readonly method: 'GET' | 'POST';
  /** With `:id` for the path parameter, as most frameworks write it. */
  readonly path: '/token' | '/book' | '/books' | '/book/:id';
  /** Whether it is served without a token. */
  readonly public?: true;
  handle(request: PeerRequest): Promise<PeerResponse>;
}

/** A Lambda handler as API Gateway's proxy integration wants it. */
export type PeerHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;

export function respond(status: number, message: string, data: unknown = null): PeerResponse {
  return { status, message, data };
}

export function parseBody({ body, isBase64Encoded }: APIGatewayProxyEvent): unknown {
  try {
    return JSON.parse(isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? ''));
  } catch {
    return undefined;
  }
}

export function toResult(response: PeerResponse): APIGatewayProxyResult {
  const headers = { 'Content-Type': 'application/json' };
  return { statusCode: response.status, headers, body: JSON.stringify(response) };
}
