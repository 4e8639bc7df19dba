import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Setting, text } from '../../../../lib/settings.ts';
import {
  findParameterProblem,
  type StageParameters,
  stageParameters,
} from '../../../../serverless/deploy/stage-parameters.ts';

const { default: shared, ...stages } = parse(readFileSync('serverless/stages.yml', 'utf8'));
const names = Object.keys(shared) as (keyof StageParameters)[];

/** @returns what is wrong with the parameters of a stage, with values in place of those in serverless/stages.yml */
function findProblem(values: Readonly<Record<string, unknown>> = {}, stage = 'prod') {
  const parameters = Object.entries<unknown>({ ...shared, ...stages[stage] }).map(
    ([name, value]) => [name, /^\$\{setting:\w+, '?(.*?)'?\}$/.exec(String(value))?.[1] ?? value] as const,
  );
  const all = { ...Object.fromEntries(parameters), ...values } as unknown as StageParameters;
  return findParameterProblem(all, 'eu-west-1');
}

const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012';
const hostedZoneId = 'Z0123456789ABCDEFGHIJ';
const policy = 'arn:aws:iam::123456789012:policy/book-catalog-deployer-dev-Boundary-1A2B3C4D5E6F7';
const domainName = 'api.example.com';
const alarmEmail = 'oncall@example.com';

/** Values of parameters that AWS or a function refuses. Those of numbers follow from their bounds. */
const wrongValues: Readonly<Record<string, readonly string[]>> = {
  logRetentionInDays: ['0', '-1', '2', '15', '91', '1.5', '36500', 'forever', '014'],
  deletionProtection: ['yes', 'on', 'False', '0'],
  architecture: ['arm', 'ARM64', 'x86', 'x86_64 ', 'amd64'],
  alarmEmail: ['oncall', 'oncall@example', '@example.com', 'a b@example.com', 'a@b@example.com', 'a@example.com\nb'],
  corsOrigin: [
    "https://docs.example.com'",
    'https://docs.example.com\'"',
    'https://a.test,b.test',
    'docs.example.com',
    'https://docs.example.com/',
    '*',
    'null',
    'https://a.test,https://b.test',
  ],
  domainName: ['https://api.example.com', 'api', 'API.example.com', 'api.example.com.', '*.example.com', '10.0.0.1'],
  certificateArn: ['12345678-1234-1234-1234-123456789012', `${certificateArn}/`, certificateArn.replace('acm', 'iam')],
  hostedZoneId: ['/hostedzone/Z0123456789ABCDEFGHIJ', 'example.com', 'z0123', `Z${'0'.repeat(32)}`],
  permissionsBoundary: ['Boundary', policy.replace('policy', 'role'), policy.replace('123456789012', '12345')],
  endpointAccessMode: ['strict', 'basic', 'NONE', 'on'],
  probe: ['off', 'true', '5', 'ON'],
  maxErrorShare: ['0', '-0.1', '1.1', '1 %', '.5', 'none'],
};

/** Values that are right, besides the defaults, and the parameters that these need. */
const rightValues: Readonly<Record<string, readonly unknown[]>> = {
  logRetentionInDays: [1, '365', 3653],
  deletionProtection: [false, 'true', 'false'],
  architecture: ['x86_64'],
  alarmEmail: [alarmEmail, 'first.last+books@mail.example.co.uk', `${'x'.repeat(68)}@example.com`],
  corsOrigin: ['https://docs.example.com', 'http://localhost:8081', 'http://[::1]:8081', 'https://a_b.xn--p1ai'],
  domainName: [domainName, 'a-1.xn--p1ai', `${'x'.repeat(63)}.example.com`],
  certificateArn: [certificateArn, certificateArn.replace('aws', 'aws-cn')],
  hostedZoneId: [hostedZoneId],
  permissionsBoundary: [policy, 'arn:aws-us-gov:iam::aws:policy/PowerUserAccess'],
  endpointAccessMode: ['STRICT', 'BASIC'],
  probe: ['on'],
  maxErrorShare: ['0.05', 1],
};
const needed = { domainName, certificateArn, alarmEmail };

function valuesOf(name: keyof StageParameters) {
  const { kind, default: fallback }: Setting = stageParameters[name];
  const { minimum = 0, maximum } = kind;
  const noNumbers = [`0${minimum}`, ` ${minimum}`, `${minimum}.5`, `-${minimum + 1}`, '1e3', 'many'];
  const ofKind = kind === text ? [' '] : [];
  const beyond = maximum === undefined ? ofKind : [minimum - 1, maximum + 1, ...noNumbers];
  return {
    wrong: [...(wrongValues[name] ?? beyond), ...(fallback === '' ? [] : [''])].map(String),
    right: [...(rightValues[name] ?? [minimum, maximum, `${maximum}`]), ...(fallback === '' ? [''] : [])],
  };
}

test.each(names)('a wrong value of the parameter %s in serverless/stages.yml is found', (name) => {
  const { kind, default: fallback }: Setting = stageParameters[name];
  const { wrong } = valuesOf(name);

  expect(wrong.length, `wrongValues has none of ${name}`).toBeGreaterThan(0);
  for (const value of wrong) {
    const problem = `${name} has to be ${kind.description}${fallback === '' ? ', or unset' : ''}.`;
    expect(findProblem({ ...needed, [name]: value }), value).toBe(problem);
  }
});

test.each(names)('right values of the parameter %s are accepted', (name) => {
  for (const value of valuesOf(name).right) {
    const others = value === '' ? {} : needed;
    expect(findProblem({ ...others, [name]: value }), String(value)).toBeUndefined();
  }
});

test.each(Object.keys(stages))('nothing is wrong with the parameters of %s, and it has no others', (stage) => {
  expect(findProblem({}, stage)).toBeUndefined();
  expect(Object.keys(stages[stage]).filter((name) => !names.some((each) => each === name))).toEqual([]);
});

test('each wrong parameter is named, with what it has to be', () => {
  expect(findProblem({ corsOrigin: '*', listConcurrency: 4, probe: 'off', architecture: 'arm' })).toBe(
    'corsOrigin has to be the origin of a web site, like https://docs.example.com, or unset. ' +
      'listConcurrency has to be a whole number of instances, 5 to 1000, or unset. probe has to be "on", or unset. ' +
      'architecture has to be one of "arm64", "x86_64".',
  );
});

const ofZone = 'certificateArn and hostedZoneId need domainName.';
const ofCertificate = 'domainName needs certificateArn, a certificate in eu-west-1, the region of the stage.';

test.each<[string, Partial<StageParameters>]>([
  [ofZone, { hostedZoneId }],
  [ofZone, { certificateArn }],
  [ofCertificate, { domainName }],
  [ofCertificate, { domainName, certificateArn: certificateArn.replace('eu-west-1', 'us-east-1') }],
  ['monthlyBudget needs alarmEmail.', { monthlyBudget: '150' }],
])('the problem %j is found in %j', (problem, values) => {
  expect(findProblem(values)).toBe(problem);
});
