import { place } from './deployer-stack.ts';
import { resolveIntrinsics } from './intrinsics.ts';
import { type Statement, toList } from './policy.ts';
import { findResources, type Template } from './template.ts';

/**
 * Reads the statements of the roles in a packaged template, with the ARNs that its resources would have.
 *
 * @param template - the template
 * @returns the statements, by the logical id of the role
 */
export function readRoleStatements(template: Template): ReadonlyMap<string, readonly Statement[]> {
  const values = { refs: place, attributes: attributesOf(template) };
  return new Map(
    Object.entries(findResources(template, 'AWS::IAM::Role')).map(([id, { Properties }]) => [
      id,
      toList<{ PolicyDocument: unknown }>(Properties.Policies ?? []).flatMap(({ PolicyDocument }) => {
        const { Statement } = resolveIntrinsics(PolicyDocument, values) as { Statement: Statement[] };
        return Statement;
      }),
    ]),
  );
}

function attributesOf({ Resources }: Template): Readonly<Record<string, string>> {
  const { 'AWS::Region': region, 'AWS::AccountId': account } = place;
  return Object.fromEntries(
    Object.entries(Resources).flatMap(([id, { Type, Properties }]) => {
      if (Type === 'AWS::Logs::LogGroup') {
        return [[`${id}.Arn`, `arn:aws:logs:${region}:${account}:log-group:${Properties.LogGroupName}:*`]];
      }
      if (Type === 'AWS::DynamoDB::Table') {
        return [[`${id}.Arn`, `arn:aws:dynamodb:${region}:${account}:table/${Properties.TableName}`]];
      }
      return [];
    }),
  );
}
