import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readTemplate } from './template.ts';

type Resource = ReturnType<typeof readTemplate>['Resources'][string];

/**
 * The properties of each type of resource that are security, retention, limits or alarms. A type with an empty list has all
 * of its properties here, and `null` has none.
 */
const protection: Readonly<Record<string, readonly string[] | null>> = {
  'AWS::ApiGateway::Account': [],
  'AWS::ApiGateway::BasePathMapping': null,
  'AWS::ApiGateway::Deployment': null,
  'AWS::ApiGateway::DomainName': ['EndpointConfiguration', 'SecurityPolicy', 'EndpointAccessMode'],
  'AWS::ApiGateway::GatewayResponse': null,
  'AWS::ApiGateway::Method': ['AuthorizationType', 'ApiKeyRequired'],
  'AWS::ApiGateway::Resource': null,
  'AWS::ApiGateway::RestApi': ['BinaryMediaTypes', 'EndpointConfiguration', 'SecurityPolicy', 'EndpointAccessMode'],
  'AWS::ApiGateway::Stage': ['AccessLogSetting', 'MethodSettings', 'TracingEnabled'],
  'AWS::Budgets::Budget': [],
  'AWS::CloudWatch::Alarm': [],
  'AWS::CloudWatch::Dashboard': null,
  'AWS::DynamoDB::Table': [],
  'AWS::Events::Rule': ['ScheduleExpression', 'State'],
  'AWS::IAM::Role': [],
  'AWS::Lambda::EventInvokeConfig': [],
  'AWS::Lambda::Function': [
    ...['Runtime', 'Timeout', 'MemorySize', 'ReservedConcurrentExecutions', 'Role'],
    ...['LoggingConfig', 'TracingConfig'],
  ],
  'AWS::Lambda::Permission': [],
  'AWS::Logs::LogGroup': [],
  'AWS::Logs::MetricFilter': [],
  'AWS::Route53::RecordSet': null,
  'AWS::S3::Bucket': [],
  'AWS::S3::BucketPolicy': [],
  'AWS::SNS::Subscription': [],
  'AWS::SNS::Topic': [],
  'AWS::SecretsManager::Secret': [],
  'AWS::WAFv2::WebACL': [],
  'AWS::WAFv2::WebACLAssociation': [],
  'AWS::XRay::SamplingRule': [],
};

/** What differs between stages that last. */
const byStage = ['AWS::ApiGateway::Stage', 'AWS::DynamoDB::Table', 'AWS::Logs::LogGroup'];

// A change of the snapshot is a change of what protects a stage: read it line by line, then `npx vitest run --project
// template -u test/aws/template/protection.test.ts`. Other tests say what may differ between stages.
test.each([
  ['dev-with-all', Object.keys(protection)],
  ['prod', byStage],
])('security, retention and alarms of %s are those that were reviewed', (name, types) => {
  const { Resources } = readTemplate(name);
  expect(Object.values(Resources).filter(({ Type }) => protection[Type] === undefined)).toEqual([]);

  const protectedResources = Object.entries(Resources)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([id, resource]) => {
      const properties = types.includes(resource.Type) ? selectProtection(resource) : undefined;
      return properties === undefined ? [] : [[id, properties] as const];
    });
  expect(stringify(Object.fromEntries(protectedResources), { aliasDuplicateObjects: false })).toMatchSnapshot();
});

function selectProtection({ Type, Properties, DeletionPolicy, UpdateReplacePolicy }: Resource): object | undefined {
  const names = protection[Type];
  const policies = { DeletionPolicy, UpdateReplacePolicy };
  const kept = Object.fromEntries(Object.entries(policies).filter(([, policy]) => policy !== undefined));
  if (!names) return undefined;
  if (names.length === 0) return { Type, ...kept, ...Properties };
  return { Type, ...kept, ...Object.fromEntries(names.map((name) => [name, Properties[name]])) };
}
