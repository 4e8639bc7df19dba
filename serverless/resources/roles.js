/** The functions, and the actions of each on the book table. A test compares these with the commands that the functions send. */
const tableActions = {
  CreateToken: [],
  CreateBook: ['GetItem', 'PutItem', 'UpdateItem'],
  ListBooks: ['GetItem', 'Query', 'Scan'],
  GetBook: ['GetItem'],
  UpdateBook: ['GetItem', 'UpdateItem'],
  DeleteBook: ['GetItem', 'UpdateItem'], // a deletion leaves the tokens of the book
};

// biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
const tableArn = 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${TableName}';

/** The name of the table with the books (table.yml). */
export const tableName = { 'Fn::If': ['OwnsTable', { Ref: 'BookTable' }, { Ref: 'RestoredTable' }] };

/** The names of the functions, as the framework begins their logical ids. */
export const functionNames = Object.keys(tableActions);

/** One role for each function: its log group, X-Ray, and its actions on the table. */
export const roles = {
  Resources: Object.fromEntries(
    Object.entries(tableActions).map(([name, actions]) => [`${name}Role`, createRole(name, actions)]),
  ),
};

function createRole(name, actions) {
  const allow = (Action, Resource) => ({ Effect: 'Allow', Action, Resource });
  const arnOf = (id) => ({ 'Fn::GetAtt': [id, 'Arn'] });
  const trust = { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' };
  const statements = [
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], arnOf(`${name}LogGroup`)),
    allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'), // X-Ray's actions have no resources
  ];
  const ofTable = actions.map((action) => `dynamodb:${action}`);
  if (ofTable.length > 0)
    statements.push(allow(ofTable, { 'Fn::Sub': [tableArn, { TableName: tableName }] }));
  const PolicyName = name[0].toLowerCase() + name.slice(1);
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trust] },
      Policies: [{ PolicyName, PolicyDocument: { Version: '2012-10-17', Statement: statements } }],
    },
  };
}
