import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createGatewayResponses, gatewayResponses } from '../../serverless/deploy/gateway-responses.ts';
import { findObstacle } from '../../serverless/deploy/stack.ts';
import { findParameterProblem } from '../../serverless/deploy/stage-parameters.ts';
import type { StageParameters } from '../../serverless/framework.ts';

test('each gateway response has the envelope with its own status; the one of AWS WAF comes with its limit', () => {
  const all = createGatewayResponses({}, true);

  for (const { Properties } of Object.values(all)) {
    const body = JSON.parse(Properties.ResponseTemplates['application/json'] ?? '');
    const envelope = { status: Number(Properties.StatusCode), message: expect.any(String), data: null };
    expect(body, Properties.ResponseType).toEqual(envelope);
  }
  const { GatewayResponseWAFFILTERED: _, ...withoutLimit } = all;
  expect(Object.values(all)).toHaveLength(Object.keys(gatewayResponses).length);
  expect(createGatewayResponses({}, false)).toEqual(withoutLimit);
});

test('the default gateway responses are true of any failure', () => {
  expect(gatewayResponses.DEFAULT_4XX).toEqual({ status: 400, message: 'Bad request' });
  expect(gatewayResponses.DEFAULT_5XX).toMatchObject({ status: 502, message: 'Bad gateway' });
});

test('each gateway response after which a client may try again says when', () => {
  const sayWhen = Object.entries(gatewayResponses).filter(
    ([, response]) => 'headers' in response && /^[1-9]\d*$/.test(response.headers['Retry-After']),
  );

  expect(sayWhen.map(([, { status }]) => status)).toEqual([429, 429, 504, 502]);
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

const alarmEmail = 'oncall@example.com';
const valuesOf = (name: keyof StageParameters, ...values: readonly unknown[]) =>
  values.map((value) => ({ [name]: value }));

test.each<[unknown, Partial<StageParameters>[]]>([
  [undefined, [{}, domain, { ...domain, hostedZoneId }, ...valuesOf('monitoringMinutes', '0', 30)]],
  [
    undefined,
    [
      { alarmEmail, monthlyBudget: '150' },
      { listConcurrency: 5, probe: 'on' },
    ],
  ],
  [undefined, valuesOf('tableName', 'book-catalog-prod', 'book-catalog-prod-20260131T120000Z')],
  [undefined, valuesOf('requestsPerAddress', '10', 600, '100000000')],
  ['certificateArn and hostedZoneId need domainName.', [{ hostedZoneId }, { certificateArn }]],
  [
    'domainName needs certificateArn, a certificate for that name.',
    valuesOf('domainName', 'api.example.com'),
  ],
  [
    'certificateArn has to be a certificate in eu-west-1, the region of the stage.',
    [{ ...domain, certificateArn: certificateArn.replace('eu-west-1', 'us-east-1') }],
  ],
  [
    'requestsPerAddress has to be a whole number of requests per minute, 10 or more.',
    valuesOf('requestsPerAddress', '0', '9', '-10', '10.5', '1e3', 'many', ' 600', '1000000000000'),
  ],
  [
    'monitoringMinutes has to be a whole number of minutes, 0 to 30.',
    valuesOf('monitoringMinutes', '', '-1', '1.5', '31', 'five'),
  ],
  [
    'monthlyBudget has to be a whole number of US dollars, and needs alarmEmail.',
    [{ monthlyBudget: '150' }, ...['0', '1.5', '$9'].map((monthlyBudget) => ({ monthlyBudget, alarmEmail }))],
  ],
  [
    'listConcurrency has to be a whole number of instances, 1 to 1000.',
    valuesOf('listConcurrency', '0', '1001', 'all'),
  ],
  ['probe has to be "on", or unset.', valuesOf('probe', 'off', 'true', '5')],
  [
    'tableName has to be book-catalog-prod, or begin with book-catalog-prod-.',
    valuesOf('tableName', 'books', 'book-catalog-dev', 'book-catalog-production'),
  ],
])('the problem %j is found in the parameters %o', (problem, all) => {
  for (const parameters of all) {
    const found = findParameterProblem({ ...none, ...parameters }, 'book-catalog-prod', 'eu-west-1');
    expect(found, inspect(parameters)).toBe(problem);
  }
});
