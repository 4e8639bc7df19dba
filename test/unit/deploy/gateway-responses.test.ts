import { describe, expect, test } from 'vitest';
import {
  corsHeaders,
  createGatewayResponses,
  gatewayResponses,
  renderGatewayResponse,
} from '../../../serverless/deploy/gateway-responses.ts';

describe('createGatewayResponses', () => {
  test('each response has the envelope, with its own status in it', () => {
    const resources = Object.values(createGatewayResponses({}, true));

    expect(resources.map(({ Properties }) => Properties.ResponseType)).toEqual(Object.keys(gatewayResponses));
    for (const { Properties } of resources) {
      const envelope = JSON.parse(Properties.ResponseTemplates['application/json'] ?? '');
      expect(envelope, Properties.ResponseType).toEqual({
        status: Number(Properties.StatusCode),
        message: expect.any(String),
        data: null,
      });
    }
  });

  test('headers are static values in single quotes, those of every response included', () => {
    const { GatewayResponseTHROTTLED } = createGatewayResponses(
      corsHeaders('https://docs.example.com'),
      false,
    );

    expect(GatewayResponseTHROTTLED?.Properties).toEqual({
      RestApiId: { Ref: 'ApiGatewayRestApi' },
      ResponseType: 'THROTTLED',
      StatusCode: '429',
      ResponseParameters: {
        'gatewayresponse.header.Retry-After': "'1'",
        'gatewayresponse.header.Access-Control-Allow-Origin': "'https://docs.example.com'",
        'gatewayresponse.header.Access-Control-Expose-Headers':
          "'ETag, Idempotency-Replayed, Link, Retry-After'",
      },
      ResponseTemplates: { 'application/json': '{"status":429,"message":"Too many requests","data":null}' },
    });
  });

  test('without AWS WAF there is no response for what it blocks', () => {
    const resources = createGatewayResponses({}, false);

    expect(Object.keys(resources)).toHaveLength(Object.keys(gatewayResponses).length - 1);
    expect(resources).not.toHaveProperty('GatewayResponseWAFFILTERED');
  });
});

describe('the defaults, which stand for every failure that has no type of its own', () => {
  test('do not turn an unknown failure into one that means something else', () => {
    expect(gatewayResponses.DEFAULT_4XX).toEqual({ status: 400, message: 'Bad request' });
    expect(gatewayResponses.DEFAULT_5XX).toMatchObject({ status: 502, message: 'Bad gateway' });
  });
});

test.each(['THROTTLED', 'WAF_FILTERED', 'INTEGRATION_TIMEOUT', 'DEFAULT_5XX'] as const)(
  '%s, after which a client may try again, says when',
  (type) => {
    const { status, headers } = renderGatewayResponse(type);

    expect([429, 502, 504]).toContain(status);
    expect(headers['Retry-After']).toMatch(/^[1-9]\d*$/);
  },
);
