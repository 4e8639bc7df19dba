import type { HttpResponse } from '../../support/http-client.ts';
import { createBook } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { expectEqual } from '../expectation.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import { outcomes } from '../outcomes.ts';

const reference = 'specification 13.1, 13.2';

const paths = [
  { path: '/token', methods: 'OPTIONS,POST' },
  { path: '/book', methods: 'OPTIONS,POST' },
  { path: '/books', methods: 'OPTIONS,GET' },
  { path: '/book/1', methods: 'OPTIONS,DELETE,GET,PUT' },
];

const exposedHeaders = 'ETag, Idempotency-Replayed, Link, Retry-After';

const anyOrigin = 'https://elsewhere.example';

/** What the scripts of a web site may do: nothing, unless the operator has named the site. */
export const crossOriginCases = defineCases('cross-origin', [
  ...paths.map(
    ({ path, methods }): CaseDefinition => ({
      name: `A preflight request to ${path} is not found, unless an origin is configured`,
      reference,
      gatewayQuestion: gatewayQuestions.crossOrigin,
      run: async (context) => {
        const { corsOrigin } = context;
        for (const headers of [{}, preflightHeaders(corsOrigin), { Authorization: await context.token() }]) {
          const answer = await context.send({ method: 'OPTIONS', path, headers });
          if (corsOrigin === undefined) expectAnswer(answer, outcomes.notFound);
          else expectPermission(answer, corsOrigin, methods);
        }
      },
    }),
  ),
  {
    name: 'Successes and errors can be read from the configured origin, their headers included, and from no other',
    reference: 'specification 13.1, 13.3',
    run: async (context) => {
      const Authorization = await context.token();
      const Origin = context.corsOrigin ?? anyOrigin;
      const expected = { allowed: context.corsOrigin, exposed: context.corsOrigin && exposedHeaders };
      const known = await createBook(context);
      const missing = `/book/${Number.MAX_SAFE_INTEGER}`;
      for (const request of [
        { method: 'GET', path: '/books?limit=1', headers: { Authorization, Origin } },
        {
          method: 'GET',
          path: `/book/${known.id}`,
          headers: { Authorization, Origin, 'If-None-Match': '*' },
        },
        { method: 'GET', path: missing, headers: { Authorization, Origin } },
        { method: 'GET', path: missing, headers: { Origin } },
      ]) {
        const { headers } = await context.send(request);
        const { 'access-control-allow-origin': allowed, 'access-control-expose-headers': exposed } = headers;
        expectEqual(request.path, { allowed, exposed }, expected);
      }
    },
  },
  {
    name: 'What no function responds to can be read from the configured origin, and from no other',
    reference,
    gatewayQuestion: gatewayQuestions.crossOrigin,
    run: async (context) => {
      const Origin = context.corsOrigin ?? anyOrigin;
      const { headers } = await context.send({ method: 'GET', path: '/nowhere', headers: { Origin } });
      expectEqual('the origin', headers['access-control-allow-origin'], context.corsOrigin);
    },
  },
]);

function preflightHeaders(origin: string = anyOrigin): Record<string, string> {
  return {
    Origin: origin,
    'Access-Control-Request-Method': 'PUT',
    'Access-Control-Request-Headers': 'authorization',
  };
}

function expectPermission({ request, status, headers }: HttpResponse, origin: string, methods: string): void {
  const permission = {
    status,
    origin: headers['access-control-allow-origin'],
    methods: headers['access-control-allow-methods']?.split(',').sort(),
    headers: headers['access-control-allow-headers'],
  };
  expectEqual(`OPTIONS ${request.path}`, permission, {
    status: 200,
    origin,
    methods: methods.split(',').sort(),
    headers: 'Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match',
  });
}
