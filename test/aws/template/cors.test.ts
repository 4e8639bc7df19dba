import { describe, expect, test } from 'vitest';
import { findOnly, findResources, readTemplate } from './template.ts';

const origin = 'https://docs.example.com';

describe('without an origin in the parameters', () => {
  const template = readTemplate();

  test('no path answers OPTIONS, and nothing says that an origin may read it', () => {
    const methods = Object.values(findResources(template, 'AWS::ApiGateway::Method'));

    expect(methods.map(({ Properties }) => Properties.HttpMethod)).not.toContain('OPTIONS');
    expect(JSON.stringify(template)).not.toContain('Access-Control-');
  });

  test('the functions allow none', () => {
    for (const { Properties } of Object.values(findResources(template, 'AWS::Lambda::Function'))) {
      expect(Properties.Environment.Variables.CORS_ORIGIN).toBe('');
    }
  });
});

describe('with an origin in the parameters', () => {
  const template = readTemplate('dev-with-all');

  test('each path answers preflight requests of that origin, and the deployment holds these methods', () => {
    const preflights = Object.entries(findResources(template, 'AWS::ApiGateway::Method')).filter(
      ([, { Properties }]) => Properties.HttpMethod === 'OPTIONS',
    );

    expect(
      preflights.map(([, { Properties }]) => {
        const [{ ResponseParameters }] = Properties.Integration.IntegrationResponses;
        return {
          type: Properties.Integration.Type,
          authorization: Properties.AuthorizationType,
          origin: ResponseParameters['method.response.header.Access-Control-Allow-Origin'],
          headers: ResponseParameters['method.response.header.Access-Control-Allow-Headers'],
          methods: ResponseParameters['method.response.header.Access-Control-Allow-Methods']
            .slice(1, -1)
            .split(',')
            .sort(),
        };
      }),
    ).toEqual(
      [
        ['OPTIONS', 'POST'],
        ['OPTIONS', 'POST'],
        ['GET', 'OPTIONS'],
        ['DELETE', 'GET', 'OPTIONS', 'PUT'],
      ].map((methods) => ({
        type: 'MOCK',
        authorization: 'NONE',
        origin: `'${origin}'`,
        headers: "'Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match'",
        methods,
      })),
    );
    expect(findOnly(template, 'AWS::ApiGateway::Deployment').DependsOn).toEqual(
      expect.arrayContaining(preflights.map(([id]) => id)),
    );
  });

  test('every answer of API Gateway itself may be read from there, and keeps its other headers', () => {
    const responses = Object.values(findResources(template, 'AWS::ApiGateway::GatewayResponse'));

    for (const { Properties } of responses) {
      expect(Properties.ResponseParameters, Properties.ResponseType).toMatchObject({
        'gatewayresponse.header.Access-Control-Allow-Origin': `'${origin}'`,
      });
    }
    const throttled = responses.find(({ Properties }) => Properties.ResponseType === 'THROTTLED');
    expect(throttled?.Properties.ResponseParameters).toMatchObject({
      'gatewayresponse.header.Retry-After': "'1'",
    });
  });

  test('the functions allow it', () => {
    for (const { Properties } of Object.values(findResources(template, 'AWS::Lambda::Function'))) {
      expect(Properties.Environment.Variables.CORS_ORIGIN).toBe(origin);
    }
  });

  test('the smoke test learns of it from the stack', () => {
    expect(template.Outputs.CorsOrigin).toMatchObject({ Value: origin });
  });
});
