import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenSigner } from '../../../lib/auth/token.ts';
import { type Engine, startEngine } from '../../simulators/engine.ts';
import { startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { type BookTable, createBookTable } from '../../support/book-table.ts';
import { type Call, loadHandlers, settings } from '../../support/load-handlers.ts';
import { findResources, readTemplate } from './template.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: unknown;
}

let engine: Engine;
let table: BookTable;
let headers: { Authorization: string };

beforeAll(async () => {
  engine = await startEngine();
  table = await createBookTable(engine.endpoint);
  await table.repository.create({ title: 'Emma', author: 'Jane Austen', year: 1815 });
  headers = { Authorization: await createTokenSigner(settings.SECRET_TOKEN)() };
});

afterAll(async () => {
  await engine.stop();
});

/** For each function, its route, and calls that bring it to send every command that it has. */
const functions: readonly (readonly [string, string, (call: Call) => Promise<unknown>[]])[] = [
  ['CreateToken', 'POST /token', (call) => [call('POST', '/token', { body: '{}' })]],
  ['CreateBook', 'POST /book', (call) => [call('POST', '/book', { headers, body: '{}' })]],
  [
    'ListBooks',
    'GET /books',
    (call) => [
      call('GET', '/books', { headers }),
      call('GET', '/books', { headers, queryStringParameters: { limit: '1' } }),
    ],
  ],
  [
    'GetBook',
    'GET /book/{id}',
    (call) => [call('GET', '/book/1', { headers }), call('GET', '/book/404', { headers })],
  ],
  [
    'UpdateBook',
    'PUT /book/{id}',
    (call) =>
      ['{"year":1}', '{}', '{'].flatMap((body) => [
        call('PUT', '/book/1', { headers, body }),
        call('PUT', '/book/404', { headers, body }),
      ]),
  ],
  [
    'DeleteBook',
    'DELETE /book/{id}',
    (call) => [call('DELETE', '/book/1', { headers }), call('DELETE', '/book/404', { headers })],
  ],
];

describe('each function has a role of its own', () => {
  test.each(functions)('that of %s is used by no other function', (name) => {
    const used = Object.entries(findResources(readTemplate(), 'AWS::Lambda::Function')).filter(
      ([, { Properties }]) => JSON.stringify(Properties.Role).includes(`${name}Role`),
    );
    expect(used.map(([id]) => id)).toEqual([`${name}LambdaFunction`]);
  });

  test.each(functions)(
    '%s may do on the table what it does while it serves %s, no more and no less',
    async (name, route, use) => {
      const proxy = await startFaultyProxy(engine.endpoint);
      const emptyTable = await createBookTable(engine.endpoint);
      for (const { tableName } of [table, emptyTable]) {
        const call = await loadHandlers(`${proxy.endpoint}/${tableName}`, [route]);
        await Promise.all(use(call));
      }
      await proxy.stop();

      const onTable = statements(name).filter(({ Action }) => Action[0]?.startsWith('dynamodb:'));
      expect(onTable.flatMap(({ Action }) => Action).toSorted()).toEqual(
        proxy
          .operations()
          .map((operation) => `dynamodb:${operation}`)
          .toSorted(),
      );
      for (const { Resource } of onTable) expect(Resource).toEqual({ 'Fn::GetAtt': ['BookTable', 'Arn'] });
    },
  );

  test.each(functions)('%s may write its own log and traces, and nothing else besides', (name) => {
    const others = statements(name).filter(({ Action }) => !Action[0]?.startsWith('dynamodb:'));
    expect(others).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [`${name}LogGroup`, 'Arn'] },
      },
      {
        Effect: 'Allow',
        Action: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
        Resource: '*',
      },
    ]);
  });

  test.each(functions)('only Lambda may take the role of %s, and it has no other policies', (name) => {
    const { AssumeRolePolicyDocument, Policies, ...rest } = role(name);
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      { Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' },
    ]);
    expect(Policies).toHaveLength(1);
    expect(rest).toEqual({});
  });
});

function role(name: string) {
  const found = readTemplate().Resources[`${name}Role`];
  if (found === undefined) throw new Error(`there is no role for ${name}`);
  return found.Properties;
}

function statements(name: string): readonly Statement[] {
  return role(name).Policies[0].PolicyDocument.Statement;
}
