import { describe, expect, test } from 'vitest';
import { createAddressLimit, findAddressLimitProblem } from '../../../serverless/deploy/address-limit.ts';
import { createDomain, findDomainProblem } from '../../../serverless/deploy/domain.ts';

const domain = {
  domainName: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012',
  hostedZoneId: '',
};
const none = { domainName: '', certificateArn: '', hostedZoneId: '' };

describe('findDomainProblem', () => {
  test.each([none, domain, { ...domain, hostedZoneId: 'Z0123456789ABCDEFGHIJ' }])(
    '%o is fine',
    (parameters) => {
      expect(findDomainProblem(parameters, 'eu-west-1')).toBeUndefined();
    },
  );

  test.each([
    [{ ...none, hostedZoneId: 'Z0123456789ABCDEFGHIJ' }, 'certificateArn and hostedZoneId need domainName.'],
    [{ ...domain, domainName: '' }, 'certificateArn and hostedZoneId need domainName.'],
    [{ ...domain, certificateArn: '' }, 'domainName needs certificateArn, a certificate for that name.'],
    [
      { ...domain, certificateArn: domain.certificateArn.replace('eu-west-1', 'us-east-1') },
      'certificateArn has to be a certificate in eu-west-1, the region of the stage.',
    ],
  ])('%o: %s', (parameters, problem) => {
    expect(findDomainProblem(parameters, 'eu-west-1')).toBe(problem);
  });
});

test('a domain whose zone is not at Route 53 gets no record', () => {
  expect(Object.keys(createDomain(domain))).toEqual(['ApiDomainName', 'ApiBasePathMapping']);
});

describe('requestsPerAddress', () => {
  test.each(['', '10', '600', '100000000'])('%j is fine', (value) => {
    expect(findAddressLimitProblem(value)).toBeUndefined();
  });

  test.each(['0', '9', '-10', '10.5', '1e3', 'many', ' 600', '1000000000000'])('%j is refused', (value) => {
    expect(findAddressLimitProblem(value)).toBe(
      'requestsPerAddress has to be a whole number of requests per minute, 10 or more.',
    );
  });

  test('logins never have a higher limit than all requests', () => {
    const limits = (value: string) =>
      createAddressLimit('x', value).AddressLimit.Properties.Rules.map(
        ({ Statement }) => Statement.RateBasedStatement.Limit,
      );

    expect(limits('10')).toEqual([10, 10]);
    expect(limits('600')).toEqual([20, 600]);
  });
});
