import { describe, expect, test } from 'vitest';
import { type Statement, toList } from '../../simulators/iam.ts';
import { resourceTypesOf, takes } from './aws-definitions.ts';
import { readDeployer, readRoleStatements } from './statements.ts';
import { findResources, readTemplate } from './template.ts';

const deployer = readDeployer('prod');

describe.each([...deployerPolicies(), ...readRoleStatements(readTemplate())])(
  'the policy %s',
  (_name, statements) => {
    test('names actions that exist, each on a resource of a type that it takes', () => {
      const mistakes = statements.flatMap(({ Action, Resource }) =>
        toList(Action).filter((action) => {
          const resources = toList(Resource);
          return resourceTypesOf(action).length === 0
            ? !resources.includes('*')
            : !resources.some((each) => each !== '*' && takes(action, each));
        }),
      );
      expect(mistakes).toEqual([]);
    });

    test('names no resource that none of its actions takes, and allows nothing on all resources that has some', () => {
      const mistakes = statements.flatMap(({ Action, Resource }) =>
        toList(Resource).filter((resource) =>
          resource === '*'
            ? toList(Action).some((action) => resourceTypesOf(action).length > 0)
            : !toList(Action).some((action) => takes(action, resource)),
        ),
      );
      expect(mistakes).toEqual([]);
    });
  },
);

test('the policies of trust name actions that exist', () => {
  const roles = [...Object.values(findResources(readTemplate(), 'AWS::IAM::Role')), deployer.DeployRole];
  for (const { Properties } of roles) {
    for (const { Action } of Properties.AssumeRolePolicyDocument.Statement) {
      expect(() => resourceTypesOf(Action)).not.toThrow();
    }
  }
});

function deployerPolicies(): [string, readonly Statement[]][] {
  return Object.entries(deployer)
    .filter(([, { Type }]) => Type === 'AWS::IAM::ManagedPolicy')
    .map(([id, { Properties }]) => [`${id} of the deployer`, Properties.PolicyDocument.Statement]);
}
