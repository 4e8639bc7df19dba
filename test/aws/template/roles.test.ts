import { describe, expect, test } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { functions } from '../../../serverless/packaging/package-service.ts';
import { emma } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { type Call, loadHandlers, settings } from '../../support/load-handlers.ts';
import { findResources, readTemplate, tableName } from './template.ts';

const headers = { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) };

type Options = Parameters<Call>[2];

/** Requests that bring a function to send every command that it has; one with an empty object by default. */
const requestsOf: Readonly<Record<string, readonly Options[]>> = {
  listBooks: [{ queryStringParameters: null }, { queryStringParameters: { limit: '1' } }],
  updateBook: [{ body: '{"year":1}' }, { body: '{}' }, { body: '{' }],
};

const tableArn = /^arn:\$\{AWS::Partition\}:dynamodb:.+:table\/\$\{TableName\}$/;

const tables = await useTables();

describe.each(functions)('the role of $name', ({ name: functionName, event: { method, path } }) => {
  const name = functionName.replace(/^./, (letter) => letter.toUpperCase());
  const route = `${method} ${path}`;
  const requests = requestsOf[functionName] ?? [{ body: '{}' }];
  const template = readTemplate();
  const { AssumeRolePolicyDocument, Policies, ...others } =
    template.Resources[`${name}Role`]?.Properties ?? {};

  test('is used by no other function, and only Lambda may take it', () => {
    const users = Object.entries(findResources(template, 'AWS::Lambda::Function')).filter(
      ([, { Properties }]) => JSON.stringify(Properties.Role).includes(`${name}Role`),
    );
    expect(users.map(([id]) => id)).toEqual([`${name}LambdaFunction`]);
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
    ]);
  });

  test(`allows its own log, traces, and on the table what it does while it serves ${route}, no more and no less`, async () => {
    const operations = new Set<string>();
    for (const book of [emma, undefined]) {
      const { table, proxy } = await tables.openThroughProxy();
      if (book !== undefined) await table.repository.create(book);
      const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`, [route]);
      const paths = new Set(['1', '404'].map((id) => path.replace('{id}', id)));
      const send = (to: string) => requests.map((request) => call(method, to, { headers, ...request }));
      await Promise.all([...paths].flatMap(send));
      for (const { operation } of proxy.takeRequests()) operations.add(`dynamodb:${operation}`);
    }

    const allow = (Action: readonly string[], Resource: unknown) => ({ Effect: 'Allow', Action, Resource });
    expect(others).toEqual({});
    expect(Policies).toHaveLength(1);
    expect(Policies[0].PolicyDocument.Statement).toEqual([
      allow(['logs:CreateLogStream', 'logs:PutLogEvents'], { 'Fn::GetAtt': [`${name}LogGroup`, 'Arn'] }),
      allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'),
      ...(operations.size === 0
        ? []
        : [
            allow([...operations].toSorted(), {
              'Fn::Sub': [expect.stringMatching(tableArn), { TableName: tableName }],
            }),
          ]),
    ]);
  });
});
