import type { APIGatewayProxyEvent, Context } from 'aws-lambda';

/** The envelope, which every framework sends as JSON with `status` as the HTTP status. */
export type PeerResponse = { readonly status: number; readonly message: string; readonly data: unknown };

/** An endpoint without a framework. Every peer serves the same ones, so that they differ in nothing else. */
export interface PeerEndpoint {
  readonly method: 'GET' | 'POST';
  /** With `:id` for the path parameter, as most frameworks write it. */
  readonly path: string;
  /** Whether it is served without a token. */
  readonly public?: true;
  /** `body` is the parsed JSON, `undefined` when there is none. */
  handle(request: { readonly id?: string | undefined; readonly body?: unknown }): Promise<PeerResponse>;
}

/** A Lambda handler as API Gateway's proxy integration wants it. */
export type PeerHandler = (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;

export function respond(status: number, message: string, data: unknown = null): PeerResponse {
  return { status, message, data };
}
