import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { corsHeaders } from '../../serverless/deploy/cors.ts';
import {
  createGatewayResponses,
  gatewayResponses,
  renderGatewayResponse,
} from '../../serverless/deploy/gateway-responses.ts';
import { findObstacle } from '../../serverless/deploy/stack.ts';
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
          "'ETag, Idempotency-Replayed, Link, Location, Retry-After'",
      },
      ResponseTemplates: { 'application/json': '{"status":429,"message":"Too many requests","data":null}' },
    });
  });

  test('the defaults do not turn an unknown failure into one that means something else', () => {
    expect(gatewayResponses.DEFAULT_4XX).toEqual({ status: 400, message: 'Bad request' });
    expect(gatewayResponses.DEFAULT_5XX).toMatchObject({ status: 502, message: 'Bad gateway' });
  });

  test('each after which a client may try again says when', () => {
    for (const type of ['THROTTLED', 'WAF_FILTERED', 'INTEGRATION_TIMEOUT', 'DEFAULT_5XX'] as const) {
      const { status, headers } = renderGatewayResponse(type);

      expect([429, 502, 504]).toContain(status);
      expect(headers['Retry-After'], type).toMatch(/^[1-9]\d*$/);
    }
  });
});

const none = {
  domainName: '',
  certificateArn: '',
  hostedZoneId: '',
  requestsPerAddress: '',
  permissionsBoundary: '',
  monitoringMinutes: 5,
  tableName: '',
  alarmEmail: '',
  monthlyBudget: '',
  listConcurrency: '',
  probe: '',
  corsOrigin: '',
  throttlingBurstLimit: 1000,
};
const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012';
const domain = { domainName: 'api.example.com', certificateArn };
const hostedZoneId = 'Z0123456789ABCDEFGHIJ';

test.each([
  ['ROLLBACK_COMPLETE', 'delete-stack --stack-name book-catalog-prod'],
  ['REVIEW_IN_PROGRESS', 'delete-stack --stack-name book-catalog-prod'],
  ['UPDATE_ROLLBACK_FAILED', 'continue-update-rollback --stack-name book-catalog-prod'],
  ['DELETE_FAILED', 'npm run remove -- --stage prod'],
  ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'Wait for the end.'],
])('a stack in %s takes no deploy, and what to do ends with: %s', (status, end) => {
  expect(findObstacle('prod', status)?.endsWith(end)).toBe(true);
});

test.each(['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'IMPORT_COMPLETE'])(
  'a stack in %s takes a deploy',
  (status) => {
    expect(findObstacle('prod', status)).toBeUndefined();
  },
);

describe('findParameterProblem', () => {
  test.each<[unknown, Partial<StageParameters>[]]>([
    [
      undefined,
      [
        ...[{}, domain, { ...domain, hostedZoneId }, { monitoringMinutes: '0' }, { monitoringMinutes: 30 }],
        { alarmEmail: 'oncall@example.com', monthlyBudget: '150' },
        { listConcurrency: 5, probe: 'on' },
        { tableName: 'book-catalog-prod' },
        { tableName: 'book-catalog-prod-20260131T120000Z' },
        ...['10', 600, '100000000'].map((requestsPerAddress) => ({ requestsPerAddress })),
      ],
    ],
    ['certificateArn and hostedZoneId need domainName.', [{ hostedZoneId }, { certificateArn }]],
    ['domainName needs certificateArn, a certificate for that name.', [{ domainName: 'api.example.com' }]],
    [
      'certificateArn has to be a certificate in eu-west-1, the region of the stage.',
      [{ ...domain, certificateArn: certificateArn.replace('eu-west-1', 'us-east-1') }],
    ],
    [
      'requestsPerAddress has to be a whole number of requests per minute, 10 or more.',
      ['0', '9', '-10', '10.5', '1e3', 'many', ' 600', '1000000000000'].map((requestsPerAddress) => ({
        requestsPerAddress,
      })),
    ],
    [
      'monitoringMinutes has to be a whole number of minutes, 0 to 30.',
      ['', '-1', '1.5', '31', 'five'].map((monitoringMinutes) => ({ monitoringMinutes })),
    ],
    [
      'monthlyBudget has to be a whole number of US dollars, and needs alarmEmail.',
      [
        { monthlyBudget: '150' },
        ...['0', '1.5', '$9'].map((monthlyBudget) => ({ monthlyBudget, alarmEmail: 'oncall@example.com' })),
      ],
    ],
    [
      'listConcurrency has to be a whole number of instances, 1 to 1000.',
      ['0', '1001', 'all'].map((listConcurrency) => ({ listConcurrency })),
    ],
    ['probe has to be "on", or unset.', ['off', 'true', '5'].map((probe) => ({ probe }))],
    [
      'tableName has to be book-catalog-prod, or begin with book-catalog-prod-.',
      ['books', 'book-catalog-dev', 'book-catalog-production'].map((tableName) => ({ tableName })),
    ],
  ])('finds %j in each', (problem, all) => {
    for (const parameters of all) {
      expect(
        findParameterProblem({ ...none, ...parameters }, 'book-catalog-prod', 'eu-west-1'),
        inspect(parameters),
      ).toBe(problem);
    }
  });
});
