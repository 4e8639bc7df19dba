import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Outcome } from '../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../serverless/deploy/gateway-responses.ts';
import { findObstacle, findTableConflict } from '../../serverless/deploy/stack.ts';
import { findParameterProblem } from '../../serverless/deploy/stage-parameters.ts';
import UpdatePlugin from '../../serverless/deploy/update-plugin.ts';
import type { Serverless, StageParameters } from '../../serverless/framework.ts';

test('each gateway response after which a client may try again says when', () => {
  const responses: readonly Outcome[] = Object.values(gatewayResponses);
  const delays = responses.map(({ status, headers }) => [status, headers?.['Retry-After']]);

  expect(delays.filter(([, delay]) => delay)).toEqual([
    [429, '1'],
    [429, '60'],
    [504, '1'],
    [502, '1'],
  ]);
});

const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012';
const domain = { domainName: 'api.example.com', certificateArn };
const hostedZoneId = 'Z0123456789ABCDEFGHIJ';

test.each([
  ['REVIEW_IN_PROGRESS', 'npm run remove -- --stage prod'],
  ['ROLLBACK_COMPLETE', 'delete-stack --stack-name book-catalog-prod'],
  ['UPDATE_ROLLBACK_FAILED', 'continue-update-rollback --stack-name book-catalog-prod'],
])('a stack in %s takes no deploy, and what to do ends with: %s', (status, end) => {
  expect(findObstacle('prod', status)?.endsWith(end)).toBe(true);
});

test.each(['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'IMPORT_COMPLETE'])(
  'a stack in %s takes a deploy',
  (status) => {
    expect(findObstacle('prod', status)).toBeUndefined();
  },
);

test.each([
  ['book-catalog-prod', '', undefined],
  ['book-catalog-prod-1', 'book-catalog-prod-1', undefined],
  ['book-catalog-prod', 'book-catalog-prod-1', 'is book-catalog-prod-1'],
  ['book-catalog-prod-1', '', 'is not set'],
  ['book-catalog-prod-1', 'book-catalog-prod-2', 'is book-catalog-prod-2'],
])('a deploy of a stage that uses %s with the setting tableName "%s" is refused: %j', (used, setting, refusal) => {
  const stack = { status: 'UPDATE_COMPLETE', outputs: { BookTableName: used }, parameters: {}, tags: [] };
  const command = `npm run restore -- --stage prod --switch --table ${used}`;
  const text = `The stage uses the table ${used}, and its setting tableName ${refusal}. To keep the table: ${command}`;

  expect(findTableConflict('prod', stack, setting)).toBe(refusal && text);
});

test('the list of deploys, with which a rollback begins, is shown whatever the state of the stack is', async () => {
  const getProvider = () => {
    throw new Error('AWS was asked');
  };
  const serverless = { processedInput: { commands: ['deploy', 'list'] }, getProvider } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: () => {} } });

  await expect(hooks.initialize?.()).resolves.toBeUndefined();
});

/** The defaults of the stages, without settings. */
const defaults = Object.entries<unknown>(parse(readFileSync('serverless/stages.yml', 'utf8')).default).map(
  ([name, value]) => [name, /^\$\{setting:\w+, '?(.*?)'?\}$/.exec(String(value))?.[1] ?? value],
);
const alarmEmail = 'oncall@example.com';
const ofZone = 'certificateArn and hostedZoneId need domainName.';
const ofCertificate = 'domainName needs certificateArn, a certificate in eu-west-1, the region of the stage.';
const ofBudget = 'monthlyBudget has to be a whole number of US dollars, 1 to 1000000.';
const ofTable = 'tableName has to begin with book-catalog-prod-, or to be unset.';

/** A problem, a parameter, values of it that have the problem, and other parameters. */
test.each<[unknown, keyof StageParameters, values: unknown[], others?: Partial<StageParameters>]>([
  [undefined, 'domainName', [domain.domainName], domain],
  [undefined, 'hostedZoneId', ['', hostedZoneId], domain],
  [undefined, 'monitoringMinutes', ['0', 30]],
  [undefined, 'monthlyBudget', ['', '150'], { alarmEmail, listConcurrency: 5, probe: 'on' }],
  [undefined, 'tableName', ['', 'book-catalog-prod-20260131T120000Z']],
  [undefined, 'requestsPerAddress', ['500', 600, '100000000']],
  [ofZone, 'hostedZoneId', [hostedZoneId]],
  [ofZone, 'certificateArn', [certificateArn]],
  [ofCertificate, 'domainName', [domain.domainName]],
  [ofCertificate, 'certificateArn', [certificateArn.replace('eu-west-1', 'us-east-1')], domain],
  [
    'requestsPerAddress has to be a whole number of requests per minute, 500 to 2000000000.',
    'requestsPerAddress',
    ['0', '60', '499', '-500', '10.5', '1e3', 'many', ' 600', '1000000000000'],
  ],
  ['monitoringMinutes has to be a whole number of minutes, 0 to 30.', 'monitoringMinutes', ['-1', '1.5', '31', 'five']],
  ['monthlyBudget needs alarmEmail.', 'monthlyBudget', ['150']],
  [ofBudget, 'monthlyBudget', ['0', '1.5', '$9'], { alarmEmail }],
  ['listConcurrency has to be a whole number of instances, 1 to 1000.', 'listConcurrency', ['0', '1001', 'all']],
  ['probe has to be "on", or unset.', 'probe', ['off', 'true', '5']],
  [ofTable, 'tableName', ['books', 'book-catalog-prod', 'book-catalog-dev', 'book-catalog-production']],
])('the problem %j is found in the parameter %s with the values %j', (problem, name, values, others) => {
  for (const value of values) {
    const parameters = { ...Object.fromEntries(defaults), ...others, [name]: value };
    expect(findParameterProblem(parameters, 'book-catalog-prod', 'eu-west-1'), String(value)).toBe(problem);
  }
});
