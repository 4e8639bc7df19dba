import { Router } from '@aws-lambda-powertools/event-handler/http';
import type { PeerAnswer, PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

export function serve(endpoint: PeerEndpoint): PeerHandler {
  const app = new Router();
  if (!endpoint.public) {
    app.use(async ({ reqCtx, next }) => {
      const refusal = refuseToken(reqCtx.req.headers.get('Authorization') ?? undefined);
      if (refusal) return respond(refusal);
      await next();
      return undefined;
    });
  }
  const takesBody = endpoint.method === 'POST' || endpoint.method === 'PUT';
  app.route(
    async ({ params, req }) => {
      const body = takesBody ? await req.json().catch(() => undefined) : undefined;
      return respond(await endpoint.handle({ id: params.id, body }));
    },
    { method: endpoint.method, path: endpoint.path },
  );
  return (event, context) => app.resolve(event, context);
}

function respond(answer: PeerAnswer): Response {
  return Response.json(answer, { status: answer.status });
}
