import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { toLogicalId } from '../../../serverless/framework.ts';
import { functionNames } from '../../../serverless/packaging/package-service.ts';
import { boundary } from './packaged-stages.ts';
import { findResources, readTemplate, readTemplateText, tableName } from './template.ts';

const prod = readTemplate('prod');
const withAll = readTemplate('dev-with-all');
const origin = 'https://docs.example.com';
const functions = findResources(prod, 'AWS::Lambda::Function');

/** Finds the properties of the resources of a type. */
const propertiesOf = (type: string, template = prod) =>
  Object.values(findResources(template, `AWS::${type}`)).map(({ Properties }) => Properties);

const scopeDown = 'Rules[0].Statement.RateBasedStatement.ScopeDownStatement.ByteMatchStatement';

const methodSettings = (ResourcePath: string, HttpMethod: string, rate: number, burst: number) => ({
  ...{ ResourcePath, HttpMethod, ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst },
  ...{ LoggingLevel: 'OFF', DataTraceEnabled: false },
});

/** Each resource of a type has a property: in prod, or in the stage with all parameters where a type is only there. */
test.each<[string, string, unknown]>([
  ['Lambda::Function', 'Runtime', 'nodejs24.x'],
  ['Lambda::Function', 'Architectures', ['arm64']],
  ['Lambda::Function', 'MemorySize', 1769], // a whole core
  ['Lambda::Function', 'LoggingConfig.LogFormat', 'JSON'],
  ['Lambda::Function', 'TracingConfig.Mode', 'Active'],
  ['Logs::LogGroup', 'RetentionInDays', 90],
  ['DynamoDB::Table', 'TableName', 'book-catalog-prod'], // without a function: a deploy adopts a table by its name
  ['DynamoDB::Table', 'BillingMode', 'PAY_PER_REQUEST'],
  ['DynamoDB::Table', 'DeletionProtectionEnabled', true],
  ['DynamoDB::Table', 'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled', true],
  ['DynamoDB::Table', 'SSESpecification.SSEEnabled', true],
  ['DynamoDB::Table', 'TimeToLiveSpecification', { AttributeName: 'expiresAt', Enabled: true }],
  ['ApiGateway::RestApi', 'EndpointConfiguration.Types', ['REGIONAL']],
  ['ApiGateway::RestApi', 'BinaryMediaTypes', ['*/*']], // bodies pass as they were sent
  ['ApiGateway::Stage', 'TracingEnabled', true],
  ['ApiGateway::Stage', 'MethodSettings[0]', methodSettings('/*', '*', 500, 1000)],
  ['ApiGateway::Stage', 'MethodSettings[1]', methodSettings('/~1token', 'POST', 5, 10)],
  ['CloudWatch::Alarm', 'AlarmActions', [{ Ref: 'AlarmTopic' }]],
  ['CloudWatch::Alarm', 'OKActions', [{ Ref: 'AlarmTopic' }]],
  ['CloudWatch::Alarm', 'TreatMissingData', 'notBreaching'],
  ['S3::Bucket', 'PublicAccessBlockConfiguration.RestrictPublicBuckets', true],
  ['S3::BucketPolicy', 'PolicyDocument.Statement[0].Effect', 'Deny'],
  ['S3::BucketPolicy', 'PolicyDocument.Statement[0].Condition', { Bool: { 'aws:SecureTransport': false } }],
  ['ApiGateway::DomainName', 'DomainName', 'api.example.com'],
  ['ApiGateway::DomainName', 'SecurityPolicy', 'TLS_1_2'],
  ['ApiGateway::BasePathMapping', 'Stage', { Ref: 'ApiGatewayStage' }],
  ['Route53::RecordSet', 'Name', 'api.example.com'],
  ['Route53::RecordSet', 'AliasTarget.DNSName', { 'Fn::GetAtt': ['ApiDomainName', 'RegionalDomainName'] }],
  ['Budgets::Budget', 'Budget.BudgetLimit', { Amount: '150', Unit: 'USD' }],
  ['Budgets::Budget', 'NotificationsWithSubscribers[1].Subscribers[0].Address', 'oncall@example.com'],
  ['Events::Rule', 'ScheduleExpression', 'rate(5 minutes)'],
  ['Events::Rule', 'Targets[0].Arn', { 'Fn::GetAtt': ['ProbeFunction', 'Arn'] }],
  ['WAFv2::WebACL', 'DefaultAction', { Allow: {} }],
  ['WAFv2::WebACL', 'Rules[0].Action', { Block: {} }],
  ['WAFv2::WebACL', 'Rules[0].Statement.RateBasedStatement.Limit', 20],
  ['WAFv2::WebACL', `${scopeDown}.SearchString`, '/token'],
  ['WAFv2::WebACL', `${scopeDown}.TextTransformations`, [{ Priority: 0, Type: 'URL_DECODE' }]],
  ['WAFv2::WebACL', 'Rules[1].Action', { Block: {} }],
  [
    'WAFv2::WebACL',
    'Rules[1].Statement.RateBasedStatement',
    { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: '600' },
  ],
  ['WAFv2::WebACLAssociation', 'WebACLArn', { 'Fn::GetAtt': ['AddressLimit', 'Arn'] }],
])('each %s has %s: %j', (type, path, value) => {
  const inProd = propertiesOf(type);
  const all = inProd.length > 0 ? inProd : propertiesOf(type, withAll);
  expect(all).not.toEqual([]);
  for (const properties of all) expect(properties).toHaveProperty(path, value);
});

test('the resources whose parameter is not set are not there', () => {
  const optional = /^AWS::(ApiGateway::(DomainName|BasePathMapping)|Route53::|WAFv2::|Budgets::|Events::)/;
  const count = (name: string) =>
    Object.values(readTemplate(name).Resources).filter(({ Type }) => optional.test(Type)).length;
  expect(['prod', 'dev', 'dev-with-all'].map(count)).toEqual([0, 0, 7]);
});

test('AWS WAF keeps no samples of requests, which would hold tokens', () => {
  const text = JSON.stringify(propertiesOf('WAFv2::WebACL', withAll));
  expect(text.match(/"SampledRequestsEnabled":\w+/g)).toEqual(
    Array(3).fill('"SampledRequestsEnabled":false'),
  );
});

test('dev differs from prod in throttling and log retention only', () => {
  const read = (stage: string) =>
    readTemplateText(stage)
      .replaceAll(/serverless\/book-catalog\/(?:prod|dev)\/[^/"]+/g, 'ARTIFACTS')
      .replaceAll(/ApiGatewayDeployment\d+/g, 'ApiGatewayDeployment')
      .replaceAll(/("(?:RetentionInDays|Throttling\w+Limit)": )\d+/g, '$1 0')
      .replaceAll(/\b(?:prod|dev)\b/g, 'STAGE');

  expect(JSON.parse(read('dev'))).toEqual(JSON.parse(read('prod')));
});

test.each(functionNames)('the package of %s is the same for every stage', (name) => {
  const read = (stage: string) => readFileSync(join(inject('packagesFolder'), stage, `${name}.zip`));

  expect(read('dev').equals(read('prod'))).toBe(true);
});

test('each function ends before API Gateway gives up on it, so that the response to a slow storage has the envelope', () => {
  for (const [route, { Properties }] of Object.entries(findResources(prod, 'AWS::ApiGateway::Method'))) {
    const { TimeoutInMillis = 29_000, Uri } = Properties.Integration;
    const name = /\w+LambdaFunction/.exec(JSON.stringify(Uri))?.[0] ?? '';
    expect(functions[name]?.Properties.Timeout * 1000, route).toBeLessThan(TimeoutInMillis);
  }
});

test('the list of books is streamed, for as long as API Gateway allows 200 MB', () => {
  const { Integration } = prod.Resources.ApiGatewayMethodBooksGet?.Properties ?? {};
  expect(Integration).toMatchObject({ ResponseTransferMode: 'STREAM', TimeoutInMillis: 310_000 });
  expect(JSON.stringify(Integration.Uri)).toMatch(
    /:lambda:path\/2021-11-15\/functions\/.*\/response-streaming-invocations/,
  );
});

test("each function but that of tokens finds the table at AWS's name for DynamoDB in the stack's region", () => {
  const url = /^https:\/\/dynamodb\.\$\{AWS::Region\}\.\$\{AWS::URLSuffix\}\/\$\{TableName\}$/;
  for (const [id, { Properties }] of Object.entries(functions)) {
    expect(Properties.Environment.Variables.DB_URL, id).toEqual(
      id === 'CreateTokenLambdaFunction'
        ? undefined
        : { 'Fn::Sub': [expect.stringMatching(url), { TableName: tableName }] },
    );
  }
});

test('Secrets Manager generates the secrets, and the template only refers to them', () => {
  const secrets = propertiesOf('SecretsManager::Secret');
  expect(secrets).toHaveLength(2);
  for (const { SecretString, Name, GenerateSecretString } of secrets) {
    expect(SecretString).toBeUndefined();
    expect(JSON.stringify(Name)).toContain('book-catalog-prod-');
    expect(GenerateSecretString.PasswordLength).toBeGreaterThanOrEqual(32);
  }
  for (const [id, { Properties }] of Object.entries(functions)) {
    const { SECRET_TOKEN, AUTH_USERNAME, AUTH_PASSWORD } = Properties.Environment.Variables;
    const refer = (key: string) => ({ 'Fn::Sub': `{{resolve:secretsmanager:\${BookCatalog${key}}}` });
    expect(SECRET_TOKEN).toEqual(refer('SigningSecret}:SecretString'));
    const takesLogins = id === 'CreateTokenLambdaFunction';
    expect(AUTH_USERNAME).toEqual(takesLogins ? refer('Credentials}:SecretString:username') : undefined);
    expect(AUTH_PASSWORD).toEqual(takesLogins ? refer('Credentials}:SecretString:password') : undefined);
  }
});

test("the table and the account's settings of API Gateway outlive the stack, a failed first deploy included", () => {
  for (const id of ['BookTable', 'ApiGatewayAccount', 'ApiGatewayLogsRole']) {
    const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
    expect(prod.Resources[id], id).toMatchObject(retained);
  }
});

test('the table of the stack is there unless a restored one is used', () => {
  expect(prod.Resources.BookTable).toMatchObject({ Condition: 'OwnsTable' });
  expect(prod.Conditions.OwnsTable).toEqual({ 'Fn::Equals': [{ Ref: 'RestoredTable' }, ''] });
});

test.each([
  ['prod', functionNames.length + 8],
  ['dev-with-all', functionNames.length + 4 + 9],
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

test('alarms watch errors, throttling and latency, and those of errors take an update back', () => {
  expect(Object.keys(findResources(prod, 'AWS::CloudWatch::Alarm')).toSorted()).toEqual(
    ['ErrorShare', 'FunctionErrors', 'FunctionThrottles', 'Latency', 'TableErrors', 'TableThrottles'].map(
      (name) => `${name}Alarm`,
    ),
  );
  expect(prod.Outputs.ErrorAlarms).toMatchObject({
    Value: { 'Fn::Sub': expect.stringMatching(/ErrorShareAlarm\.Arn\},.*FunctionErrorsAlarm\.Arn\}$/) },
  });
});

test.each(['TableThrottlesAlarm', 'TableErrorsAlarm'])('%s has a value whenever there are requests', (id) => {
  const [{ Expression }, ...metrics] = prod.Resources[id]?.Properties.Metrics ?? [];
  const basis = metrics.pop();
  expect(basis.MetricStat.Metric).toMatchObject({ Namespace: 'AWS/ApiGateway', MetricName: 'Count' });
  const filled = metrics.map((metric: { Id: string }) => `FILL(${metric.Id}, 0)`);
  expect(Expression).toBe(`${filled.join(' + ')} + 0 * ${basis.Id}`);
});

test.each(['FunctionErrorsAlarm', 'FunctionThrottlesAlarm'])('%s watches every function', (id) => {
  const watched = JSON.stringify(prod.Resources[id]).match(/\w+LambdaFunction/g);
  expect(watched?.toSorted()).toEqual(Object.keys(functions).toSorted());
});

test('the alarm of the probe is on when the probe fails, and when it does not run', () => {
  expect(withAll.Resources.ProbeAlarm?.Properties).toMatchObject({
    Dimensions: [{ Name: 'FunctionName', Value: { Ref: 'ProbeFunction' } }],
    TreatMissingData: 'breaching',
    AlarmActions: [{ Ref: 'AlarmTopic' }],
  });
});

test('the boundary is attached to every role when it is set, and to none otherwise', () => {
  for (const [name, expected] of Object.entries({ dev: undefined, 'dev-with-all': boundary })) {
    const roles = propertiesOf('IAM::Role', readTemplate(name));
    expect(new Set(roles.map((role) => role.PermissionsBoundary))).toEqual(new Set([expected]));
  }
});

test('the deployer is denied each action by which a role without the boundary could get rights, and no other one by it', () => {
  const text = readFileSync('serverless/resources/deployer.yml', 'utf8');
  const { Statement } = parse(text, { logLevel: 'silent' }).Resources.DeployPolicy.Properties.PolicyDocument;
  expect(Statement).toContainEqual({
    Effect: 'Deny',
    Action: ['iam:AttachRolePolicy', 'iam:CreateRole', 'iam:PutRolePermissionsBoundary', 'iam:PutRolePolicy'],
    Resource: '*',
    Condition: { StringNotEquals: { 'iam:PermissionsBoundary': 'Boundary' } },
  });
});

test('the stack says where the API is, its address at AWS, where a record elsewhere leads to, and the origin', () => {
  expect(withAll.Outputs).toMatchObject({
    ServiceEndpoint: { Value: 'https://api.example.com' },
    ExecuteApiEndpoint: { Value: { 'Fn::Sub': expect.stringMatching(/\.execute-api\..*\/dev$/) } },
    DomainTarget: { Value: { 'Fn::GetAtt': ['ApiDomainName', 'RegionalDomainName'] } },
    CorsOrigin: { Value: origin },
  });
});

test('instances are reserved for the list only, and only with the parameter', () => {
  const reserved = (template = prod) =>
    propertiesOf('Lambda::Function', template).flatMap(({ FunctionName, ReservedConcurrentExecutions }) =>
      ReservedConcurrentExecutions === undefined ? [] : [FunctionName, ReservedConcurrentExecutions],
    );
  expect(reserved()).toEqual([]);
  expect(reserved(withAll)).toEqual(['book-catalog-dev-listBooks', 5]);
});

test('without an origin, no path responds to OPTIONS, and no script may call', () => {
  expect(propertiesOf('ApiGateway::Method').map(({ HttpMethod }) => HttpMethod)).not.toContain('OPTIONS');
  expect(JSON.stringify(prod)).not.toContain('Access-Control-');
  for (const { Properties } of Object.values(functions)) {
    expect(Properties.Environment.Variables.CORS_ORIGIN).toBe('');
  }
});

test("scripts of an origin may read the functions' responses, and API Gateway's own", () => {
  for (const name of functionNames) {
    const { Properties } = withAll.Resources[`${toLogicalId(name)}LambdaFunction`] ?? {};
    expect(Properties.Environment.Variables.CORS_ORIGIN).toBe(origin);
  }
  for (const { ResponseParameters, ResponseType } of propertiesOf('ApiGateway::GatewayResponse', withAll)) {
    expect(ResponseParameters, ResponseType).toMatchObject({
      'gatewayresponse.header.Access-Control-Allow-Origin': `'${origin}'`,
    });
  }
});

test('each path responds to the preflight requests of an origin', () => {
  const preflights = propertiesOf('ApiGateway::Method', withAll).filter(
    ({ HttpMethod }) => HttpMethod === 'OPTIONS',
  );
  const header = (name: string) => `method.response.header.Access-Control-Allow-${name}`;
  const methods = preflights.map(({ AuthorizationType, Integration }) => {
    const [{ ResponseParameters }] = Integration.IntegrationResponses;
    expect([AuthorizationType, Integration.Type]).toEqual(['NONE', 'MOCK']);
    expect(ResponseParameters).toMatchObject({
      [header('Origin')]: `'${origin}'`,
      [header('Headers')]: "'Authorization,Content-Type,Idempotency-Key,If-Match,If-None-Match'",
    });
    return ResponseParameters[header('Methods')].slice(1, -1).split(',').sort().join();
  });

  expect(methods).toEqual(['OPTIONS,POST', 'OPTIONS,POST', 'GET,OPTIONS', 'DELETE,GET,OPTIONS,PUT']);
});
