import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { findStageProblem, permanentStages, stages } from '../../../serverless/deploy/target.ts';
import { functionNames, functions, toLogicalId } from '../../../serverless/functions.ts';
import { allParameters, boundary } from './packaged-stages.ts';
import { findResources, readTemplate, readTemplateText } from './template.ts';

const prod = readTemplate('prod');
const withAll = readTemplate('dev-with-all');
const temporary = readTemplate('temporary');
const origin = 'https://docs.example.com';
const methodsOfPaths = Object.values(Object.groupBy(functions, ({ event }) => event.path)).map((served = []) =>
  served.map(({ event }) => event.method),
);

/** Finds the properties of the resources of a type. */
const propertiesOf = (type: string, template = prod) =>
  Object.values(findResources(template, `AWS::${type}`)).map(({ Properties }) => Properties);

test('the API and logins have the limits of serverless/stages.yml, and no log that would hold tokens and bodies', () => {
  const of = { ...stages.default, ...stages.prod };
  const allow = (ThrottlingRateLimit: unknown, ThrottlingBurstLimit: unknown) => {
    return { LoggingLevel: 'OFF', DataTraceEnabled: false, ThrottlingRateLimit, ThrottlingBurstLimit };
  };
  const [{ MethodSettings }] = propertiesOf('ApiGateway::Stage');
  const [{ Rules }] = propertiesOf('WAFv2::WebACL', withAll);
  const [logins, requests] = Rules.map((rule: typeof Rules) => rule.Statement.RateBasedStatement.Limit);

  expect(MethodSettings).toEqual([
    { ResourcePath: '/*', HttpMethod: '*', ...allow(of.throttlingRateLimit, of.throttlingBurstLimit) },
    {
      ...{ ResourcePath: '/~1token', HttpMethod: 'POST' },
      ...allow(of.tokenThrottlingRateLimit, of.tokenThrottlingBurstLimit),
    },
  ]);
  expect(requests).toBe(`${allParameters.requestsPerAddress}`);
  expect(logins).toBeLessThan(allParameters.requestsPerAddress);
});

// Without a policy, AWS gives TLS_1_0 to a Regional API, whose default address keeps working beside a custom domain.
test('both addresses of the API have a policy of TLS 1.2 with forward secrecy, and the access mode that AWS recommends', () => {
  const tls = { SecurityPolicy: expect.stringMatching(/^SecurityPolicy_TLS13_1_2_PFS_/), EndpointAccessMode: 'STRICT' };
  expect(propertiesOf('ApiGateway::RestApi')).toMatchObject([tls]);
  const [{ SecurityPolicy }] = propertiesOf('ApiGateway::RestApi', withAll);
  expect(propertiesOf('ApiGateway::DomainName', withAll)).toMatchObject([{ ...tls, SecurityPolicy }]);
});

test('the resources whose parameter is not set are not there', () => {
  const optional = /^AWS::(ApiGateway::(DomainName|BasePathMapping)|Route53::|WAFv2::|SNS::Subscription)/;
  const count = (name: string) =>
    Object.values(readTemplate(name).Resources).filter(({ Type }) => optional.test(Type)).length;
  expect(['prod', 'dev', 'dev-with-all'].map(count)).toEqual([0, 0, 6]);
});

test('dev differs from prod in throttling and log retention only', () => {
  const read = (stage: string) =>
    readTemplateText(stage)
      .replaceAll(/serverless\/book-catalog\/(?:prod|dev)\/[^/"]+/g, 'ARTIFACTS')
      .replaceAll(/(ApiGatewayDeployment|"DEPLOYED_AT": ")\d+/g, '$1')
      .replaceAll(/("(?:RetentionInDays|Throttling\w+Limit)": )\d+/g, '$1 0')
      .replaceAll(/\b(?:prod|dev)\b/g, 'STAGE');

  expect(JSON.parse(read('dev'))).toEqual(JSON.parse(read('prod')));
});

// The rest is as in dev, whose test compares it with prod.
test('a temporary stage differs from dev in its table alone, which goes with it', () => {
  const read = (name: string) =>
    JSON.parse(
      readTemplateText(name)
        .replaceAll(/serverless\/book-catalog\/(?:dev|alice)\/[^/"]+/g, 'ARTIFACTS')
        .replaceAll(/(ApiGatewayDeployment|"DEPLOYED_AT": ")\d+/g, '$1')
        .replaceAll(/\b(?:dev|alice)\b/g, 'STAGE'),
    );
  const ofDev = read('dev');
  Object.assign(ofDev.Resources.BookTable, { DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
  ofDev.Resources.BookTable.Properties.DeletionProtectionEnabled = false;

  expect(read('temporary')).toEqual(ofDev);
});

test.each(functionNames)('the package of %s is the same for every stage', (name) => {
  const read = (stage: string) => readFileSync(join(inject('packagesFolder'), stage, `${name}.zip`));

  expect(read('dev').equals(read('prod'))).toBe(true);
});

// CloudFormation resolves them again only in a resource that changes, so a deploy after a rotation has to change it.
test.each(functionNames)('each deploy changes %s, which refers to secrets', (name) => {
  const readTime = (stage: string) =>
    Number(
      readTemplate(stage).Resources[`${toLogicalId(name)}LambdaFunction`]?.Properties.Environment.Variables.DEPLOYED_AT,
    );
  expect(readTime('dev-with-all')).toBeLessThan(readTime('temporary'));
});

test('the names of functions fit, also in the stage with the longest name', () => {
  const longest = 'x'.repeat(20);
  const names = propertiesOf('Lambda::Function', temporary).map(({ FunctionName }) => FunctionName);
  expect([findStageProblem(longest), findStageProblem(`${longest}x`)]).toEqual([undefined, expect.any(String)]);
  expect(names.filter((name) => name.replace('alice', longest).length > 64)).toEqual([]); // Lambda's limit
  expect(names).toContain('book-catalog-alice-updateBook');
});

test('the statuses that alarms count are those of the access log', () => {
  const filters = propertiesOf('Logs::MetricFilter').map(({ LogGroupName, FilterPattern, MetricTransformations }) => {
    const [{ MetricNamespace, MetricName, MetricValue, DefaultValue }] = MetricTransformations;
    expect([LogGroupName, MetricValue, DefaultValue]).toEqual([{ Ref: 'AccessLogGroup' }, '1', 0]);
    return [MetricNamespace, MetricName, FilterPattern];
  });
  const [{ AccessLogSetting }] = propertiesOf('ApiGateway::Stage');
  expect(JSON.parse(AccessLogSetting.Format)).toHaveProperty('status', '$context.status'); // so it is a text
  expect(filters).toEqual([
    ['book-catalog-prod', 'Status5xx', '{ $.status = "5*" }'],
    ['book-catalog-prod', 'Status401', '{ $.status = "401" }'],
    ['book-catalog-prod', 'Status429', '{ $.status = "429" }'],
  ]);
  expect(JSON.stringify(prod.Resources.ErrorRateAlarm)).toContain('Status5xx');
  expect(JSON.stringify(prod.Resources.RollbackAlarm)).toContain('Status5xx');
  expect(JSON.stringify(prod.Resources.UnauthorizedAlarm)).toContain('Status401');
  expect(JSON.stringify(prod.Resources.TooManyRequestsAlarm)).toContain('Status429');
});

const alarms = JSON.stringify(propertiesOf('CloudWatch::Alarm'));

test('the dashboard has every metric that an alarm watches', () => {
  const [{ DashboardBody }] = propertiesOf('CloudWatch::Dashboard');
  const metrics = [...alarms.matchAll(/"Namespace":("[^"]+"),"MetricName":("[^"]+")/g)];
  const watched = metrics.map(([, namespace, name]) => `[${namespace},${name}`);
  const shown = JSON.stringify(JSON.parse(DashboardBody['Fn::Sub'][0]));

  expect(watched.filter((metric) => !shown.includes(metric))).toEqual([]);
  expect(watched).toContain('["book-catalog-prod","Status401"');
});

test('alarms watch the API of the stage', () => {
  const [{ Name }] = propertiesOf('ApiGateway::RestApi');
  const [{ StageName }] = propertiesOf('ApiGateway::Stage');
  const dimensions = alarms.match(/(?<="Namespace":"AWS\/ApiGateway","MetricName":"\w+","Dimensions":)\[.*?\]/g) ?? [];

  expect(dimensions.length).toBeGreaterThan(2);
  for (const text of dimensions)
    expect(JSON.parse(text)).toEqual([
      { Name: 'ApiName', Value: Name },
      { Name: 'Stage', Value: StageName },
    ]);
});

test('docs/incidents.md has each alarm with what to do, and no other', () => {
  const page = readFileSync('docs/incidents.md', 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+Alarm)` \|/gm)].map(([, name]) => name);
  expect(rows.toSorted()).toEqual(Object.keys(findResources(withAll, 'AWS::CloudWatch::Alarm')).toSorted());
});

test('the deployer stack is for the permanent stages', () => {
  const { Parameters } = parse(readFileSync('serverless/resources/deployer.yml', 'utf8'), { logLevel: 'silent' });

  expect(Parameters.Stage.AllowedValues.toSorted()).toEqual(permanentStages.toSorted());
});

test.each([
  ['prod', functionNames.length + 8],
  ['dev-with-all', functionNames.length + methodsOfPaths.length + 9],
])('the one stage of %s has a deployment with all methods and gateway responses: %i', (name, count) => {
  const template = readTemplate(name);
  const [[id, deployment] = []] = Object.entries(findResources(template, 'AWS::ApiGateway::Deployment'));
  const parts = ['Method', 'GatewayResponse'].flatMap((type) =>
    Object.keys(findResources(template, `AWS::ApiGateway::${type}`)),
  );

  expect(parts).toHaveLength(count);
  expect(deployment?.DependsOn).toEqual(expect.arrayContaining(parts));
  expect(deployment?.Properties.StageName).toBeUndefined();
  expect(propertiesOf('ApiGateway::Stage', template)).toMatchObject([{ DeploymentId: { Ref: id } }]);
});

test('each access is logged as JSON without headers, bodies and query strings', () => {
  const [{ Format }] = propertiesOf('ApiGateway::Stage').map(({ AccessLogSetting }) => AccessLogSetting);
  expect(Format).not.toContain('\n');
  expect(() => JSON.parse(Format)).not.toThrow();
  expect(Format).not.toMatch(/header|body|querystring|authorizer|requestOverride|context\.path/i);
});

test('the boundary is attached to every role when it is set, and to none otherwise', () => {
  for (const [name, expected] of Object.entries({ dev: undefined, 'dev-with-all': boundary })) {
    const roles = propertiesOf('IAM::Role', readTemplate(name));
    expect(new Set(roles.map((role) => role.PermissionsBoundary))).toEqual(new Set([expected]));
  }
});

test('without an origin, no path responds to OPTIONS, and no response of API Gateway can be read', () => {
  expect(propertiesOf('ApiGateway::Method').map(({ HttpMethod }) => HttpMethod)).not.toContain('OPTIONS');
  expect(JSON.stringify(prod)).not.toContain('Access-Control-');
});

test.each(propertiesOf('ApiGateway::GatewayResponse', withAll))(
  '$ResponseType has the envelope with its own status, and scripts of the origin may read it',
  ({ StatusCode, ResponseTemplates, ResponseParameters }) => {
    const envelope = { status: Number(StatusCode), message: expect.any(String), data: null };
    expect(JSON.parse(ResponseTemplates['application/json'])).toEqual(envelope);
    const header = 'gatewayresponse.header.Access-Control-Allow-Origin';
    expect(ResponseParameters).toMatchObject({ [header]: `'${origin}'` });
  },
);

test('each path responds to the preflight requests of an origin', () => {
  const header = 'method.response.header.Access-Control-Allow-Methods';
  const allowed = JSON.stringify(withAll).match(new RegExp(`(?<="${header}":"')[\\w,]+`, 'g')) ?? [];
  const asText = (methods: readonly string[]) => methods.toSorted().join();
  expect(allowed.map((methods) => asText(methods.split(','))).toSorted()).toEqual(
    methodsOfPaths.map((methods) => asText(['OPTIONS', ...methods])).toSorted(),
  );
});
