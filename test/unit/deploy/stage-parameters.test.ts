import { describe, expect, test } from 'vitest';
import { findParameterProblem } from '../../../serverless/deploy/stage-parameters.ts';
import type { StageParameters } from '../../../serverless/framework.ts';

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
