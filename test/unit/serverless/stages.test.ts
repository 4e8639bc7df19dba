import { expect, test } from 'vitest';
import { findStageProblem, isTemporary, permanentStages } from '../../../serverless/deploy/target.ts';

test('dev and prod last', () => {
  expect(permanentStages.toSorted()).toEqual(['dev', 'prod']);
  expect(permanentStages.flatMap((stage) => findStageProblem(stage) ?? [])).toEqual([]);
  expect(permanentStages.filter(isTemporary)).toEqual([]);
});

test.each(['alice', 'a', 'feature-login-2', 'x'.repeat(20), 'prime', 'david', 'my-prod', 'deploy-1'])(
  '%s may be a temporary stage',
  (stage) => {
    expect([findStageProblem(stage), isTemporary(stage)]).toEqual([undefined, true]);
  },
);

// Resources of `prod-2` would have names that begin like those of `prod`, on which the deployer of `prod` has rights.
test.each(['prod-2', 'production', 'prods', 'dev-alice', 'devon', 'deployer', 'deployer-prod'])(
  '%s is refused, because it begins with a name that is taken',
  (stage) => {
    expect(findStageProblem(stage)).toContain('but not with prod, dev, deployer');
  },
);

// In upper case it could be the stage of somebody else.
test.each(['Alice', '', '1a', '-a', 'a-', 'a--1', 'a_1', 'a\n', 'bücher', 'a-*', 'x'.repeat(21)])(
  '"%s" is refused, because its resources could not have their names',
  (stage) => {
    expect(findStageProblem(stage)).toBe(
      `"${stage}" cannot be the name of a stage. It has to be prod or dev, or up to 20 lower-case letters, digits and single ` +
        'hyphens that begin with a letter, but not with prod, dev, deployer.',
    );
  },
);
