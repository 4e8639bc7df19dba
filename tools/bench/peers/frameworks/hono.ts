import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

export function serve(endpoint: PeerEndpoint): PeerHandler {
  const app = new Hono();
  if (!endpoint.public) {
    app.use(async (context, next) => {
      const refusal = refuseToken(context.req.header('Authorization'));
      if (refusal) return context.json(refusal, refusal.status as ContentfulStatusCode);
      return next();
    });
  }
  app.on(endpoint.method, endpoint.path, async (context) => {
    const body = endpoint.method === 'POST' ? await context.req.json().catch(() => undefined) : undefined;
    const result = await endpoint.handle({ id: context.req.param('id'), body });
    return context.json(result, result.status as ContentfulStatusCode);
  });
  return handle(app) as unknown as PeerHandler;
}
