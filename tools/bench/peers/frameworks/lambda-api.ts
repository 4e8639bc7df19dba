import lambdaApi, { type NextFunction, type Request, type Response } from 'lambda-api';
import type { PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

// Its types describe the CommonJS module, with the function in a member `default`.
const createApi = lambdaApi as unknown as typeof lambdaApi.default;

export function serve(endpoint: PeerEndpoint): PeerHandler {
  const api = createApi();
  if (!endpoint.public) {
    api.use((request: Request, response: Response, next: NextFunction) => {
      const refusal = refuseToken(request.headers.authorization);
      if (refusal) response.status(refusal.status).json(refusal);
      else next();
    });
  }
  const method = endpoint.method.toLowerCase() as 'get' | 'post' | 'put' | 'delete';
  api[method](endpoint.path, async (request: Request, response: Response) => {
    const answer = await endpoint.handle({ id: request.params.id, body: request.body });
    response.status(answer.status).json(answer);
  });
  return ((event, context) => api.run(event, context)) as PeerHandler;
}
