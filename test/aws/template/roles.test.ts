import { expect, test } from 'vitest';
import { functions, toLogicalId } from '../../../serverless/functions.ts';
import { readTemplate } from './template.ts';

// A restored one as well: a switch changes the role before the function, whose instances still use the other table.
const tables = ['book-catalog-dev', 'book-catalog-dev-*'].map((name) => ({
  'Fn::Sub': `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${name}`,
}));

const { Resources } = readTemplate('dev-with-all');

// test/integration/database-use.test.ts compares tableActions with the commands that the functions send.
test.each(functions)(
  'the role of $name allows its own log and its tableActions on the table, no more and no less',
  ({ name, tableActions = [] }) => {
    const id = toLogicalId(name);
    const { Policies } = Resources[`${id}Role`]?.Properties ?? {};
    const { Statement } = Policies[0].PolicyDocument;
    const logGroup = { 'Fn::GetAtt': [`${id}LogGroup`, 'Arn'] };
    const actions = tableActions.map((action) => `dynamodb:${action}`);
    const traces = { Action: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], Resource: '*' };
    expect(Statement).toMatchObject([
      { Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: logGroup },
      ...(actions.length > 0 ? [{ Action: actions, Resource: tables }] : []),
      // Where X-Ray is on (docs/operations.md). Without the right, traces get lost without an error.
      ...(Resources[`${id}LambdaFunction`]?.Properties.TracingConfig ? [traces] : []),
    ]);
  },
);
