import type { MiddlewareObj } from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { HttpError } from '../http/http-error.ts';
import { outcomes } from '../http/outcomes.ts';
import { createTokenVerifier } from './token.ts';

/**
 * Middleware that lets a request through only with a valid token as the whole value of its `Authorization` header
 * (SPEC.md section 5). The names of all headers are in lower case after it.
 *
 * @param signingSecret - SECRET_TOKEN
 */
export function requireToken(signingSecret: string): MiddlewareObj<APIGatewayProxyEvent>[] {
  const verifyToken = createTokenVerifier(signingSecret);
  return [
    httpHeaderNormalizer(),
    {
      before: async function checkToken({ event }) {
        // The console of AWS sends an event without headers.
        const token = event.headers?.authorization;
        if (!token) throw new HttpError(outcomes.tokenRequired);
        await verifyToken(token);
      },
    },
  ];
}
