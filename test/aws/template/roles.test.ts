import { describe, expect, test } from 'vitest';
import { emma } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { forgeToken } from '../../support/forge-token.ts';
import { type Call, loadHandlers, settings } from '../../support/load-handlers.ts';
import { findResources, readTemplate } from './template.ts';

const headers = { Authorization: forgeToken({ secret: settings.SECRET_TOKEN }) };

/** For each function its route, and requests that bring it to send every command that it has. */
const functions: readonly (readonly [string, string, (call: Call) => Promise<unknown>[]])[] = [
  ['CreateToken', 'POST /token', (call) => [call('POST', '/token', { body: '{}' })]],
  ['CreateBook', 'POST /book', (call) => [call('POST', '/book', { headers, body: '{}' })]],
  [
    'ListBooks',
    'GET /books',
    (call) =>
      [null, { limit: '1' }].map((queryStringParameters) =>
        call('GET', '/books', { headers, queryStringParameters }),
      ),
  ],
  ['GetBook', 'GET /book/{id}', (call) => [1, 404].map((id) => call('GET', `/book/${id}`, { headers }))],
  [
    'UpdateBook',
    'PUT /book/{id}',
    (call) =>
      ['{"year":1}', '{}', '{'].flatMap((body) =>
        [1, 404].map((id) => call('PUT', `/book/${id}`, { headers, body })),
      ),
  ],
  [
    'DeleteBook',
    'DELETE /book/{id}',
    (call) => [1, 404].map((id) => call('DELETE', `/book/${id}`, { headers })),
  ],
];

const tables = useTables();

describe.each(functions)('the role of %s', (name, route, send) => {
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
      await Promise.all(send(await loadHandlers(`${proxy.endpoint}/${table.tableName}`, [route])));
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
