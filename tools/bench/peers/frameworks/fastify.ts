import awsLambdaFastify from '@fastify/aws-lambda';
import fastify, { type FastifyRequest } from 'fastify';
import type { PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

export function serve(endpoint: PeerEndpoint): PeerHandler {
  const app = fastify();
  if (!endpoint.public) {
    app.addHook('onRequest', async (request, reply) => {
      const refusal = refuseToken(request.headers.authorization);
      if (refusal) return reply.code(refusal.status).send(refusal);
    });
  }
  const handle = (request: FastifyRequest, body: unknown) =>
    endpoint.handle({ id: (request.params as { id?: string }).id, body });
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    handler: async (request, reply) => {
      const answer = await handle(request, request.body);
      return reply.code(answer.status).send(answer);
    },
  });
  // What the JSON parser refused.
  app.setErrorHandler(async (_error, request, reply) => {
    const answer = await handle(request, undefined);
    return reply.code(answer.status).send(answer);
  });
  return awsLambdaFastify(app) as unknown as PeerHandler;
}
