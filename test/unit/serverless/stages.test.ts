import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { findStageProblem, isTemporary, lastingStages } from '../../../serverless/deploy/target.ts';

test('the stages that last are those of serverless/stages.yml, and alone have a table that outlives them', () => {
  const { default: shared, ...stages } = parse(readFileSync('serverless/stages.yml', 'utf8'));

  expect(lastingStages).toEqual(Object.keys(stages));
  expect(lastingStages.filter(isTemporary)).toEqual([]);
  expect(Object.values<{ deletionProtection?: boolean }>(stages).every((stage) => stage.deletionProtection)).toBe(true);
  expect(shared.deletionProtection).toBe(false);
});

test.each(['alice', 'pr-12', 'a', 'feature-login-2', 'x'.repeat(19), 'prime', 'david', 'dan', 'deploy-1'])(
  '%s may be a temporary stage',
  (stage) => {
    expect([findStageProblem(stage), isTemporary(stage)]).toEqual([undefined, true]);
  },
);

test.each([
  ['Prod', 'prod'],
  ['PROD', 'prod'],
  ['prdo', 'prod'],
  ['production', 'prod'],
  ['staging-prod', 'prod'],
  ['prod-eu', 'prod'],
  ['eu-prod-1', 'prod'],
  ['preprod', 'prod'],
  ['DEV', 'dev'],
  ['edv', 'dev'],
  ['development', 'dev'],
  ['dev-alice', 'dev'],
  ['alice-dev', 'dev'],
])('%s may be meant for %s, so it is refused', (stage, meant) => {
  expect(findStageProblem(stage)).toBe(
    `There is no stage "${stage}". For ${meant}: --stage ${meant}. Another stage needs a name that is less like it.`,
  );
});

// In upper case it could be the stage of somebody else. The names of deployer stacks begin with "deployer".
test.each([
  ...['Alice', '', '1pr', '-pr', 'pr-', 'pr--1', 'pr_1', 'pr.1', 'pr 1', 'pr/1', 'bücher', 'pr-*', 'x'.repeat(20)],
  ...['deployer', 'deployer-alice'],
])('"%s" is refused, because its resources could not have their names', (stage) => {
  expect(findStageProblem(stage)).toContain(
    `"${stage}" cannot be the name of a stage. It has to be prod, dev, or at most 19 `,
  );
});
