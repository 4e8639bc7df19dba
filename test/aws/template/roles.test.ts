import { describe, expect, test } from 'vitest';
import { forgeToken } from '../../../conformance/forge-token.ts';
import { emma } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { type Call, loadHandlers, settings } from '../../support/load-handlers.ts';
import { findResources, readTemplate } from './template.ts';

const headers = { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) };

type Options = Parameters<Call>[2];

/** For each function its route, and requests that bring it to send every command that it has; of a book, and of none. */
const functions: readonly (readonly [name: string, route: string, requests: readonly Options[]])[] = [
  ['CreateToken', 'POST /token', [{ body: '{}' }]],
  ['CreateBook', 'POST /book', [{ body: '{}' }]],
  ['ListBooks', 'GET /books', [{ queryStringParameters: null }, { queryStringParameters: { limit: '1' } }]],
  ['GetBook', 'GET /book/{id}', [{}]],
  ['UpdateBook', 'PUT /book/{id}', [{ body: '{"year":1}' }, { body: '{}' }, { body: '{' }]],
  ['DeleteBook', 'DELETE /book/{id}', [{}]],
];

const tables = useTables();

describe.each(functions)('the role of %s', (name, route, requests) => {
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
      const [method = '', path = ''] = route.split(' ');
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
        : [allow([...operations].toSorted(), { 'Fn::GetAtt': ['BookTable', 'Arn'] })]),
    ]);
  });
});
