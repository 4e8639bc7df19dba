import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { headerValues } from '../http/header-values.ts';
import { HttpError } from '../http/http-error.ts';
import { outcomes } from '../http/outcomes.ts';
import { createTokenVerifier } from './token.ts';

/**
 * Middleware that lets a request through only with a valid token as the whole value of its `Authorization` header
 * (specification 4.1 to 4.7); of several such headers the last one counts.
 *
 * @param signingSecret - SECRET_TOKEN
 */
export function requireToken(signingSecret: string): MiddlewareObj<APIGatewayProxyEvent> {
  const verifyToken = createTokenVerifier(signingSecret);
  return {
    before: async function checkToken({ event }) {
      const token = headerValues(event, 'authorization').at(-1);
      if (!token) throw new HttpError(outcomes.tokenRequired);
      await verifyToken(token);
    },
  };
}
