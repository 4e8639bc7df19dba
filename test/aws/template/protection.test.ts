import { expect, test } from 'vitest';
import { findResources, readTemplate } from './template.ts';

const prod = readTemplate('prod');

/** The logical ids of the resources of a type, with the values of one property. */
const listIds = (type: string, property: string) =>
  Object.fromEntries(
    Object.entries(findResources(prod, `AWS::${type}`)).map(([id, { Properties }]) => [id, Properties[property]]),
  );

// CloudFormation creates a new resource for another logical id, name or key, and deletes the one with the data, or leaves it
// behind: an empty catalog, new passwords, no logs, another address. It also generates a secret anew for other rules.
test('no deploy replaces what holds data, or what clients know', () => {
  const nameOf = (secret: string) => ({
    'Fn::Join': [
      '-',
      [`book-catalog-prod-${secret}`, { 'Fn::Select': [2, { 'Fn::Split': ['/', { Ref: 'AWS::StackId' }] }] }],
    ],
  });
  const characters = { ExcludePunctuation: true };
  const login = { SecretStringTemplate: '{"username":"admin"}', GenerateStringKey: 'password' };
  const keys = [
    { AttributeName: 'shard', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ];
  expect(listIds('DynamoDB::Table', 'TableName')).toEqual({ BookTable: 'book-catalog-prod' });
  expect(listIds('DynamoDB::Table', 'KeySchema')).toEqual({ BookTable: keys });
  expect(listIds('SecretsManager::Secret', 'Name')).toEqual({
    BookCatalogSigningSecret: nameOf('signing'),
    BookCatalogCredentials: nameOf('login'),
  });
  expect(listIds('SecretsManager::Secret', 'GenerateSecretString')).toEqual({
    BookCatalogSigningSecret: { ...characters, PasswordLength: 64 },
    BookCatalogCredentials: { ...characters, ...login, PasswordLength: 32 },
  });
  expect(Object.keys(listIds('SNS::Topic', 'DisplayName'))).toEqual(['AlarmTopic']); // with its confirmed subscriptions
  expect(listIds('Logs::LogGroup', 'LogGroupName')).toMatchObject({
    AccessLogGroup: '/aws/api-gateway/book-catalog-prod-access',
  });
});

test('the table outlives the stack, is encrypted, can be restored to any second, and drops what has expired', () => {
  expect(prod.Resources.BookTable).toMatchObject({
    DeletionPolicy: 'Retain',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      SSESpecification: { SSEEnabled: true },
    },
  });
});

test("the account's settings of API Gateway outlive the stack, a failed first deploy included", () => {
  const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
  const { ApiGatewayAccount, ApiGatewayLogsRole } = prod.Resources;
  expect([ApiGatewayAccount, ApiGatewayLogsRole]).toMatchObject([retained, retained]);
});

// Drift detection compares only what the template says, so it says that actions are on.
test('each alarm tells the topic when it goes off and when it ends, and says where to read on', () => {
  const alarms = Object.values(findResources(readTemplate('dev-with-all'), 'AWS::CloudWatch::Alarm'));
  const topic = [{ Ref: 'AlarmTopic' }];
  const AlarmDescription = expect.stringContaining(' What to do: docs/incidents.md#alarms');
  expect(alarms).toHaveLength(8);
  for (const { Properties } of alarms)
    expect(Properties).toMatchObject({ AlarmDescription, ActionsEnabled: true, AlarmActions: topic, OKActions: topic });
});
