import { expect, test } from 'vitest';
import { createGatewayResponses, gatewayResponses } from '../../serverless/deploy/gateway-responses.ts';
import { findObstacle } from '../../serverless/deploy/stack.ts';
import { findParameterProblem } from '../../serverless/deploy/stage-parameters.ts';
import type { StageParameters } from '../../serverless/framework.ts';

test('each gateway response has the envelope with its own status, and of 429, 502 and 504 says when to try again', () => {
  for (const { Properties } of Object.values(createGatewayResponses({}, true))) {
    const { ResponseTemplates, ResponseParameters, StatusCode, ResponseType } = Properties;
    const body = JSON.parse(ResponseTemplates['application/json'] ?? '');
    const retryAfter = ResponseParameters?.['gatewayresponse.header.Retry-After'];

    expect(body, ResponseType).toEqual({
      status: Number(StatusCode),
      message: expect.any(String),
      data: null,
    });
    expect(/^'[1-9]\d*'$/.test(retryAfter), ResponseType).toBe(['429', '502', '504'].includes(StatusCode));
  }
});

test('the gateway response of AWS WAF comes with its limit', () => {
  const { GatewayResponseWAFFILTERED: _, ...others } = createGatewayResponses({}, true);

  expect(createGatewayResponses({}, false)).toEqual(others);
  expect(Object.keys(others)).toHaveLength(Object.keys(gatewayResponses).length - 1);
});

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

const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012';
const domain = { domainName: 'api.example.com', certificateArn };
const hostedZoneId = 'Z0123456789ABCDEFGHIJ';
const alarmEmail = 'oncall@example.com';

const names =
  'domainName certificateArn hostedZoneId requestsPerAddress tableName monthlyBudget listConcurrency probe';
const unset = Object.fromEntries(names.split(' ').map((name) => [name, '']));

/** Finds the problem of a stage with these parameters, and the defaults of all others. */
function findProblem(parameters: object): string | undefined {
  const all = { ...unset, alarmEmail: '', monitoringMinutes: 5, ...parameters } as StageParameters;
  return findParameterProblem(all, 'book-catalog-prod', 'eu-west-1');
}

test.each<[name: string, rule: string, right: unknown[], wrong: unknown[]]>([
  ['monitoringMinutes', 'a whole number of minutes, 0 to 30.', ['0', 30], ['', '-1', '1.5', '31', 'five']],
  [
    'requestsPerAddress',
    'a whole number of requests per minute, 10 or more.',
    ['10', 600, '100000000'],
    ['0', '9', '-10', '10.5', '1e3', 'many', ' 600', '1000000000000'],
  ],
  ['monthlyBudget', 'a whole number of US dollars, and needs alarmEmail.', ['150'], ['0', '1.5', '$9']],
  ['listConcurrency', 'a whole number of instances, 1 to 1000.', [5], ['0', '1001', 'all']],
  ['probe', '"on", or unset.', ['on'], ['off', 'true', '5']],
  [
    'tableName',
    'book-catalog-prod, or begin with book-catalog-prod-.',
    ['book-catalog-prod', 'book-catalog-prod-20260131T120000Z'],
    ['books', 'book-catalog-dev', 'book-catalog-production'],
  ],
])('the parameter %s has to be %s', (name, rule, right, wrong) => {
  for (const value of right) expect(findProblem({ alarmEmail, [name]: value })).toBeUndefined();
  for (const value of wrong)
    expect(findProblem({ alarmEmail, [name]: value })).toBe(`${name} has to be ${rule}`);
});

test.each<[object, problem: string | undefined]>([
  [{}, undefined],
  [domain, undefined],
  [{ ...domain, hostedZoneId }, undefined],
  [{ hostedZoneId }, 'certificateArn and hostedZoneId need domainName.'],
  [{ certificateArn }, 'certificateArn and hostedZoneId need domainName.'],
  [{ domainName: 'api.example.com' }, 'domainName needs certificateArn, a certificate for that name.'],
  [
    { ...domain, certificateArn: certificateArn.replace('eu-west-1', 'us-east-1') },
    'certificateArn has to be a certificate in eu-west-1, the region of the stage.',
  ],
  [{ monthlyBudget: '150' }, 'monthlyBudget has to be a whole number of US dollars, and needs alarmEmail.'],
])('the parameters %j have the problem: %s', (parameters, problem) => {
  expect(findProblem(parameters)).toBe(problem);
});
