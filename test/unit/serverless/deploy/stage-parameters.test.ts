import { describe, expect, test } from 'vitest';
import { checkedParameters, findParameterProblem } from '../../../../serverless/deploy/stage-parameters.ts';

const limits = { wrong: ['0', '-1', '1.5', '1e3', 'many', ''], right: [1, '1', 1_000_000] };

/** Values of the parameters that a deploy checks. */
const values: Readonly<Record<string, { readonly wrong: readonly string[]; readonly right: readonly unknown[] }>> = {
  throttlingRateLimit: limits,
  throttlingBurstLimit: limits,
  tokenThrottlingRateLimit: limits,
  tokenThrottlingBurstLimit: limits,
  tokenLifetime: { wrong: ['59', '86401', '0', 'long', ''], right: [60, '86400'] },
  logRetentionInDays: {
    wrong: ['0', '-1', '2', '15', '91', '1.5', '36500', 'forever', '014', ''],
    right: [1, '365', 3653],
  },
  maxErrorRate: { wrong: ['0', '-0.1', '1.1', '5', '1 %', '.5', 'none', ''], right: ['0.05', 1] },
  corsOrigin: { wrong: ['*', 'https://a.test,https://b.test'], right: ['', 'https://docs.example.com'] },
};

const rightValues = Object.fromEntries(Object.entries(values).map(([name, { right }]) => [name, right[0]]));

/** @returns what is wrong with these parameters, among others that are right */
const findProblem = (given: Readonly<Record<string, unknown>>) =>
  findParameterProblem('prod', { ...rightValues, ...given });

test('values of each checked parameter are tried', () => {
  expect(Object.keys(values).toSorted()).toEqual(Object.keys(checkedParameters).toSorted());
});

describe.each(Object.entries(values))('the parameter %s', (name, { wrong, right }) => {
  test.each(wrong)('cannot be "%s"', (value) => {
    expect(findProblem({ [name]: value })).toMatch(new RegExp(`^${name} has to be [^.]+.*\\.$`));
  });

  test.each(right)('can be "%s"', (value) => {
    expect(findProblem({ [name]: value })).toBeUndefined();
  });
});

test('each wrong parameter is named, with what it has to be', () => {
  expect(findProblem({ corsOrigin: '*', throttlingBurstLimit: 0 })).toBe(
    'corsOrigin has to be the origin of a web site, like https://docs.example.com, or empty. ' +
      'throttlingBurstLimit has to be a whole number of requests, 1 to 1000000.',
  );
  expect(findProblem({ logRetentionInDays: '2' })).toContain('logRetentionInDays has to be one of "1", "3", "5", ');
});

test('a parameter on the command line that serverless/stages.yml does not have is a mistake', () => {
  expect(findParameterProblem('prod', rightValues, ['corsOrigin=https://a.test', 'alarmMail=a=b'])).toMatch(
    /^alarmMail is not a parameter\. Parameters are throttlingRateLimit, /,
  );
});
