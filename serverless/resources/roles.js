import { toLogicalId } from '../framework.ts';
import { functions } from '../packaging/package-service.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
const tableArn = 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${TableName}';

/** The name of the table with the books (table.yml). */
export const tableName = { 'Fn::If': ['OwnsTable', { Ref: 'BookTable' }, { Ref: 'RestoredTable' }] };

/** One role for each function: its log group, X-Ray, and its `tableActions`. A test compares these with what it sends. */
export const roles = {
  Resources: Object.fromEntries(
    functions.map((definition) => [`${toLogicalId(definition.name)}Role`, createRole(definition)]),
  ),
};

function createRole({ name, tableActions = [] }) {
  const allow = (Action, Resource) => ({ Effect: 'Allow', Action, Resource });
  const logGroup = { 'Fn::GetAtt': [`${toLogicalId(name)}LogGroup`, 'Arn'] };
  const trust = { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' };
  const statements = [
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup),
    allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'), // X-Ray's actions have no resources
  ];
  const ofTable = tableActions.map((action) => `dynamodb:${action}`).toSorted();
  if (ofTable.length > 0) statements.push(allow(ofTable, { 'Fn::Sub': [tableArn, { TableName: tableName }] }));
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trust] },
      Policies: [{ PolicyName: name, PolicyDocument: { Version: '2012-10-17', Statement: statements } }],
    },
  };
}
