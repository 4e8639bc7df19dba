import assert from 'node:assert/strict';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { IAM } from '@aws-sdk/client-iam';
import { createUser, toClientConfig } from './deployer.ts';
import { findResources, StackName } from './emulated-stage.ts';

const denied = { name: /AccessDenied/ };

/** @returns the boundary of all roles in the stage's template; the emulator's CloudFormation leaves it out */
export async function checkBoundary(): Promise<string> {
  const { TemplateBody = '' } = await new CloudFormation().getTemplate({ StackName });
  const { Resources } = JSON.parse(TemplateBody) as { Resources: Record<string, { Type: string; Properties: object }> };
  const roles = Object.values(Resources).filter(({ Type }) => Type === 'AWS::IAM::Role');
  const boundaries = new Set(roles.map(({ Properties }) => Object(Properties).PermissionsBoundary));
  const [boundary, ...others] = boundaries;
  assert.deepEqual(others, []);
  assert.match(boundary, /:policy\/book-catalog-deployer-prod-Boundary-/);
  return boundary;
}

/** Enforces the boundary from now on: no role without it, no rights beyond it, and the items for functions only. */
export async function enforceBoundary(): Promise<void> {
  const boundary = await checkBoundary();
  for (const RoleName of await findResources('AWS::IAM::Role')) {
    await new IAM().putRolePermissionsBoundary({ RoleName, PermissionsBoundary: boundary });
  }
  const administrator = 'arn:aws:iam::aws:policy/AdministratorAccess';
  const bounded = toClientConfig(await createUser('bounded', [administrator], boundary));
  const client = new DynamoDB(bounded);
  // Not even the stage's own table, because it is no function that asks.
  for (const TableName of [StackName, 'other']) {
    await assert.rejects(client.getItem({ TableName, Key: { shard: { N: '0' }, id: { N: '1' } } }), denied);
  }
  await assert.rejects(new IAM(bounded).listUsers(), denied);
}
