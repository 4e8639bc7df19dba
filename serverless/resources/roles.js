import { functions, toLogicalId } from '../functions.ts';

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the framework and CloudFormation replace these
const tableArn = 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${self:service}-${sls:stage}';
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

/**
 * The tables that a function may use: the stack's own, and restored ones. CloudFormation changes a role before the
 * function, so a role with one table would refuse requests while the stage switches to another.
 */
const tableArns = [{ 'Fn::Sub': tableArn }, { 'Fn::Sub': `${tableArn}-*` }];

/** The name of the table with the books (table.yml). */
export const tableName = { 'Fn::If': ['OwnsTable', { Ref: 'BookTable' }, { Ref: 'RestoredTable' }] };

/** One role for each function: its log group, and its `tableActions`. A test compares these with its requests. */
export const roles = {
  Resources: Object.fromEntries(
    functions.map((definition) => [`${toLogicalId(definition.name)}Role`, createRole(definition)]),
  ),
};

function createRole({ name, tableActions = [] }) {
  const allow = (Action, Resource) => ({ Effect: 'Allow', Action, Resource });
  const logGroup = { 'Fn::GetAtt': [`${toLogicalId(name)}LogGroup`, 'Arn'] };
  const trust = { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' };
  const statements = [allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup)];
  const ofTable = tableActions.map((action) => `dynamodb:${action}`).toSorted();
  if (ofTable.length > 0) statements.push(allow(ofTable, tableArns));
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trust] },
      Policies: [{ PolicyName: name, PolicyDocument: { Version: '2012-10-17', Statement: statements } }],
    },
  };
}
