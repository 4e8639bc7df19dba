/** What a framework hands to an endpoint. */
export interface PeerRequest {
  /** The path parameter of `/book/:id`. */
  readonly id?: string | undefined;
  /** The parsed JSON body; `undefined` when there is none or it is no JSON. */
  readonly body?: unknown;
}

/** The envelope, which every framework sends as JSON with `status` as the HTTP status. */
export interface PeerAnswer {
  readonly status: number;
  readonly message: string;
  readonly data: unknown;
}

/** An endpoint without any framework. Every peer serves the same six, so that they differ in nothing else. */
export interface PeerEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `:id` for the path parameter, as most frameworks write it. */
  readonly path: '/token' | '/book' | '/books' | '/book/:id';
  /** Whether it is served without a token. */
  readonly public?: true;
  handle(request: PeerRequest): Promise<PeerAnswer>;
}

/** A Lambda handler as API Gateway's proxy integration wants it. */
export type PeerHandler = (
  event: import('aws-lambda').APIGatewayProxyEvent,
  context: import('aws-lambda').Context,
) => Promise<unknown>;
