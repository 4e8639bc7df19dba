import { configure } from '@codegenie/serverless-express';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

export function serve(endpoint: PeerEndpoint): PeerHandler {
  const app = express();
  if (!endpoint.public) {
    app.use((request, response, next) => {
      const refusal = refuseToken(request.headers.authorization);
      if (refusal) response.status(refusal.status).json(refusal);
      else next();
    });
  }
  app.use(express.json());
  const serveEndpoint = async (request: Request, response: Response, body: unknown) => {
    const [, , id] = request.path.split('/');
    const result = await endpoint.handle({ id, body });
    response.status(result.status).json(result);
  };
  const method = endpoint.method.toLowerCase() as 'get' | 'post';
  app[method](endpoint.path, (request, response) => serveEndpoint(request, response, request.body));
  // What express.json() could not parse.
  app.use((_error: unknown, request: Request, response: Response, _next: NextFunction) =>
    serveEndpoint(request, response, undefined),
  );
  return configure({ app }) as unknown as PeerHandler;
}
