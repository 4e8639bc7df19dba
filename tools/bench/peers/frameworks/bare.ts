import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

/** No framework at all. */
export function serve(endpoint: PeerEndpoint): PeerHandler {
  return async (event) => {
    const token = event.headers.Authorization ?? event.headers.authorization;
    const refusal = endpoint.public ? undefined : refuseToken(token);
    const request = { id: event.pathParameters?.id, body: parseBody(event) };
    const response = refusal ?? (await endpoint.handle(request));
    const headers = { 'Content-Type': 'application/json' };
    return { statusCode: response.status, headers, body: JSON.stringify(response) };
  };
}

function parseBody({ body, isBase64Encoded }: APIGatewayProxyEvent): unknown {
  try {
    return JSON.parse(isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? ''));
  } catch {
    return undefined;
  }
}
