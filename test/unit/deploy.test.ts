import { expect, test } from 'vitest';
import type { Outcome } from '../../lib/http/outcomes.ts';
import { findObstacle, findTableConflict } from '../../serverless/deploy/stack.ts';
import UpdatePlugin from '../../serverless/deploy/update-plugin.ts';
import type { Serverless } from '../../serverless/framework.ts';
import { gatewayResponses } from '../../serverless/gateway-responses.ts';

test('each gateway response after which a client may try again says when', () => {
  const responses: readonly Outcome[] = Object.values(gatewayResponses);
  const delays = responses.map(({ status, headers }) => [status, headers?.['Retry-After']]);

  expect(delays.filter(([, delay]) => delay)).toEqual([
    [429, '1'],
    [429, '60'],
    [504, '1'],
    [502, '1'],
  ]);
});

test.each([
  ['REVIEW_IN_PROGRESS', 'npm run remove -- --stage prod'],
  ['ROLLBACK_COMPLETE', 'delete-stack --stack-name book-catalog-prod'],
  ['ROLLBACK_FAILED', 'delete-stack --stack-name book-catalog-prod'],
  ['DELETE_FAILED', 'npm run remove -- --stage prod'],
  ['UPDATE_ROLLBACK_FAILED', 'continue-update-rollback --stack-name book-catalog-prod'],
])('a stack in %s takes no deploy, and what to do ends with: %s', (status, end) => {
  expect(findObstacle('prod', status)?.endsWith(end)).toBe(true);
});

test.each(['CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_ROLLBACK_COMPLETE', 'IMPORT_COMPLETE'])(
  'a stack in %s takes a deploy',
  (status) => {
    expect(findObstacle('prod', status)).toBeUndefined();
  },
);

test.each([
  ['book-catalog-prod', '', undefined],
  ['book-catalog-prod-1', 'book-catalog-prod-1', undefined],
  ['book-catalog-prod', 'book-catalog-prod-1', 'is book-catalog-prod-1'],
  ['book-catalog-prod-1', '', 'is not set'],
  ['book-catalog-prod-1', 'book-catalog-prod-2', 'is book-catalog-prod-2'],
])('a deploy of a stage that uses %s with the setting tableName "%s" is refused: %j', (used, setting, refusal) => {
  const stack = { status: 'UPDATE_COMPLETE', outputs: { BookTableName: used }, parameters: {}, tags: [] };
  const command = `npm run restore -- --stage prod --switch --table ${used}`;
  const text = `The stage uses the table ${used}, and its setting tableName ${refusal}. To keep the table: ${command}`;

  expect(findTableConflict('prod', stack, setting)).toBe(refusal && text);
});

test('the list of deploys, with which a rollback begins, is shown whatever the state of the stack is', async () => {
  const getProvider = () => {
    throw new Error('AWS was asked');
  };
  const serverless = { processedInput: { commands: ['deploy', 'list'] }, getProvider } as unknown as Serverless;
  const { hooks } = new UpdatePlugin(serverless, {}, { log: { notice: () => {} } });

  await expect(hooks.initialize?.()).resolves.toBeUndefined();
});
