import { type PeerEndpoint, type PeerHandler, parseBody, toResult } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

/** No framework at all. */
export function serve(endpoint: PeerEndpoint): PeerHandler {
  return async (event) => {
    const token = event.headers.Authorization ?? event.headers.authorization;
    const refusal = endpoint.public ? undefined : refuseToken(token);
    const request = { id: event.pathParameters?.id, body: parseBody(event) };
    return toResult(refusal ?? (await endpoint.handle(request)));
  };
}
