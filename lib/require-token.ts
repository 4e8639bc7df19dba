import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createTokenVerifier } from './auth/token.ts';
import type { ProtectedConfig } from './config.ts';
import { headerValues } from './http/header-values.ts';
import { HttpError, outcomes } from './http/outcomes.ts';

/** Middleware that requires a valid token in the header `Authorization` (specification 4.1 to 4.7). */
export function requireToken({ signingSecret }: ProtectedConfig): MiddlewareObj<APIGatewayProxyEvent> {
  const verifyToken = createTokenVerifier(signingSecret);
  return {
    before: async function checkToken({ event }) {
      const token = headerValues(event, 'authorization').at(-1);
      if (!token) throw new HttpError(outcomes.tokenRequired);
      await verifyToken(token);
    },
  };
}
