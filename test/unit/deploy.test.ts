import { describe, expect, test } from 'vitest';
import {
  corsHeaders,
  createGatewayResponses,
  gatewayResponses,
  renderGatewayResponse,
} from '../../serverless/deploy/gateway-responses.ts';
import { findParameterProblem } from '../../serverless/deploy/stage-parameters.ts';
import type { StageParameters } from '../../serverless/framework.ts';

describe('gateway responses', () => {
  test('each has the envelope, with its own status in it; AWS WAF’s is there only with its limit', () => {
    const resources = Object.values(createGatewayResponses({}, true));

    expect(resources.map(({ Properties }) => Properties.ResponseType)).toEqual(Object.keys(gatewayResponses));
    for (const { Properties } of resources) {
      expect(
        JSON.parse(Properties.ResponseTemplates['application/json'] ?? ''),
        Properties.ResponseType,
      ).toEqual({
        status: Number(Properties.StatusCode),
        message: expect.any(String),
        data: null,
      });
    }
    const withoutLimit = Object.keys(createGatewayResponses({}, false));
    expect(withoutLimit).toHaveLength(resources.length - 1);
    expect(withoutLimit).not.toContain('GatewayResponseWAFFILTERED');
  });

  test('headers are static values in single quotes, those of every response included', () => {
    const headers = corsHeaders('https://docs.example.com');
    const { GatewayResponseTHROTTLED } = createGatewayResponses(headers, false);

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

  test('the defaults do not turn an unknown failure into one that means something else', () => {
    expect(gatewayResponses.DEFAULT_4XX).toEqual({ status: 400, message: 'Bad request' });
    expect(gatewayResponses.DEFAULT_5XX).toMatchObject({ status: 502, message: 'Bad gateway' });
  });

  test.each(['THROTTLED', 'WAF_FILTERED', 'INTEGRATION_TIMEOUT', 'DEFAULT_5XX'] as const)(
    '%s, after which a client may try again, says when',
    (type) => {
      const { status, headers } = renderGatewayResponse(type);

      expect([429, 502, 504]).toContain(status);
      expect(headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    },
  );
});

const none = {
  domainName: '',
  certificateArn: '',
  hostedZoneId: '',
  requestsPerAddress: '',
  permissionsBoundary: '',
  monitoringMinutes: 5,
};
const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012';
const domain = { domainName: 'api.example.com', certificateArn };
const hostedZoneId = 'Z0123456789ABCDEFGHIJ';

const needsDomainName = 'certificateArn and hostedZoneId need domainName.';
const noLimit = 'requestsPerAddress has to be a whole number of requests per minute, 10 or more.';
const noMinutes = 'monitoringMinutes has to be a whole number of minutes, 0 to 180.';

describe('findParameterProblem', () => {
  test.each([
    {},
    domain,
    { ...domain, hostedZoneId },
    { requestsPerAddress: '10' },
    { requestsPerAddress: 600 },
    { requestsPerAddress: '100000000' },
    { monitoringMinutes: '0' },
    { monitoringMinutes: 180 },
  ])('%o is fine', (parameters) => {
    expect(findParameterProblem({ ...none, ...parameters }, 'eu-west-1')).toBeUndefined();
  });

  test.each<[Partial<StageParameters>, string]>([
    [{ hostedZoneId }, needsDomainName],
    [{ certificateArn }, needsDomainName],
    [{ domainName: 'api.example.com' }, 'domainName needs certificateArn, a certificate for that name.'],
    [
      { ...domain, certificateArn: certificateArn.replace('eu-west-1', 'us-east-1') },
      'certificateArn has to be a certificate in eu-west-1, the region of the stage.',
    ],
    ...['0', '9', '-10', '10.5', '1e3', 'many', ' 600', '1000000000000'].map(
      (requestsPerAddress): [Partial<StageParameters>, string] => [{ requestsPerAddress }, noLimit] as const,
    ),
    ...['', '-1', '1.5', '181', 'five'].map(
      (monitoringMinutes): [Partial<StageParameters>, string] => [{ monitoringMinutes }, noMinutes] as const,
    ),
  ])('%o: %s', (parameters, problem) => {
    expect(findParameterProblem({ ...none, ...parameters }, 'eu-west-1')).toBe(problem);
  });
});
