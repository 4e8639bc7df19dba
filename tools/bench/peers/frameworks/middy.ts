import middy, { type MiddlewareObj } from '@middy/core';
import httpErrorHandler from '@middy/http-error-handler';
import httpEventNormalizer from '@middy/http-event-normalizer';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { PeerAnswer, PeerEndpoint, PeerHandler } from '../endpoint.ts';
import { refuseToken } from '../token.ts';

/** middy with the middleware of its documentation's REST API example. */
export function serve(endpoint: PeerEndpoint): PeerHandler {
  const takesBody = endpoint.method === 'POST' || endpoint.method === 'PUT';
  const handler = middy()
    .use(httpErrorHandler())
    .use(httpEventNormalizer())
    .use(httpHeaderNormalizer())
    .use(checkToken(endpoint));
  if (takesBody) handler.use([httpJsonBodyParser(), handleInvalidBody(endpoint)] as MiddlewareObj[]);
  return handler.handler(async ({ pathParameters, body }: APIGatewayProxyEvent) =>
    respond(await endpoint.handle({ id: pathParameters?.id, body })),
  ) as PeerHandler;
}

function checkToken(endpoint: PeerEndpoint): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    before: ({ event }) => {
      const refusal = endpoint.public ? undefined : refuseToken(event.headers.authorization);
      return refusal && respond(refusal);
    },
  };
}

function handleInvalidBody(endpoint: PeerEndpoint): MiddlewareObj<APIGatewayProxyEvent> {
  return {
    onError: async ({ event, error }) => {
      if ((error as { statusCode?: number } | null)?.statusCode !== 422) return;
      return respond(await endpoint.handle({ id: event.pathParameters?.id }));
    },
  };
}

function respond(answer: PeerAnswer): APIGatewayProxyResult {
  return {
    statusCode: answer.status,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(answer),
  };
}
