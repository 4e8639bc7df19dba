import { expect, test } from 'vitest';
import { toLogicalId } from '../../../serverless/framework.ts';
import { functions } from '../../../serverless/functions.ts';
import { emma } from '../../support/book-table.ts';
import { useTables, validToken } from '../../support/fixtures.ts';
import { type Call, loadHandlers } from '../../support/load-handlers.ts';
import { readTemplate } from './template.ts';

/** Requests that bring a function to send every command that it has; one with an empty object by default. */
const requestsOf: Readonly<Record<string, readonly Parameters<Call>[2][]>> = {
  listBooks: [{ queryStringParameters: null }, { queryStringParameters: { limit: '1' } }],
  updateBook: [{ body: '{"year":1}' }, { body: '{}' }, { body: '{' }],
};

// A restored one as well: a switch changes the role before the function, whose instances still use the other table.
const tables = ['book-catalog-prod', 'book-catalog-prod-*'].map((name) => ({
  'Fn::Sub': `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${name}`,
}));

const testTables = await useTables();
const { Resources } = readTemplate();

test.each(functions)(
  'the role of $name allows its own log, traces, and the commands on the table that it sends, no more and no less',
  async ({ name, event: { method, path } }) => {
    const requests = requestsOf[name] ?? [{ body: '{}' }];
    const operations = new Set<string>();
    for (const book of [emma, undefined]) {
      const { table, proxy } = await testTables.openThroughProxy();
      if (book !== undefined) await table.repository.create(book);
      const call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`, [`${method} ${path}`]);
      const paths = new Set(['1', '404'].map((id) => path.replace('{id}', id)));
      const headers = { Authorization: validToken };
      const send = (to: string) => requests.map((request) => call(method, to, { headers, ...request }));
      await Promise.all([...paths].flatMap(send));
      for (const { operation } of proxy.takeRequests()) operations.add(`dynamodb:${operation}`);
    }

    const id = toLogicalId(name);
    const { Policies } = Resources[`${id}Role`]?.Properties ?? {};
    const { Statement } = Policies[0].PolicyDocument;
    const logGroup = { 'Fn::GetAtt': [`${id}LogGroup`, 'Arn'] };
    expect(Resources[`${id}LambdaFunction`]?.Properties.Role).toEqual({ 'Fn::Sub': `\${${id}Role.Arn}` });
    expect(Statement).toMatchObject([
      { Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Resource: logGroup },
      { Action: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'] },
      ...(operations.size > 0 ? [{ Action: [...operations].toSorted(), Resource: tables }] : []),
    ]);
  },
);
