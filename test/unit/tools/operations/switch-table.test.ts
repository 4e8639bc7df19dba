import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SSMClient } from '@aws-sdk/client-ssm';
import { expect, test, vi } from 'vitest';
import { switchStack, writeTableSetting } from '../../../../tools/operations/switch-table.ts';

test('the way back from a restored table: the stack takes its own one in again, and the setting is deleted', async () => {
  const requests: unknown[] = [];
  const names: string[] = [];
  const send = async (command: { readonly input: unknown }) => {
    requests.push(command.input);
    names.push(command.constructor.name);
    return { Status: 'CREATE_COMPLETE', Stacks: [{ StackStatus: 'UPDATE_COMPLETE' }] };
  };
  vi.spyOn(CloudFormationClient.prototype, 'send').mockImplementation(send as never);
  vi.spyOn(SSMClient.prototype, 'send').mockImplementation(send as never);
  const tags = [{ Key: 'STAGE', Value: 'prod' }];
  const parameters = { RestoredTable: 'book-catalog-prod-1', Other: '1' };

  await switchStack(
    'prod',
    { status: 'UPDATE_COMPLETE', outputs: {}, parameters, tags },
    'book-catalog-prod',
    async () => {
      names.push('the counter is raised');
    },
  );
  await writeTableSetting('prod', 'book-catalog-prod');

  expect(requests[0]).toMatchObject({
    UsePreviousTemplate: true,
    ImportExistingResources: true,
    Parameters: [
      { ParameterKey: 'RestoredTable', ParameterValue: '' },
      { ParameterKey: 'Other', UsePreviousValue: true },
    ],
    Tags: tags,
    RollbackConfiguration: { RollbackTriggers: [], MonitoringTimeInMinutes: 0 },
  });
  const before = names.indexOf('the counter is raised');
  expect(names.slice(before - 1, before + 2)).toEqual([
    'DescribeChangeSetCommand',
    'the counter is raised',
    'ExecuteChangeSetCommand',
  ]);
  expect(requests.at(-1)).toEqual({ Name: '/book-catalog/prod/tableName' });
});

test('a stack whose rollback stopped midway is not switched', async () => {
  const send = vi.spyOn(CloudFormationClient.prototype, 'send');
  const stack = { status: 'UPDATE_ROLLBACK_FAILED', outputs: {}, parameters: {}, tags: [] };

  await expect(switchStack('prod', stack, 'book-catalog-prod-1', async () => {})).rejects.toThrow(
    'A rollback stopped midway.',
  );

  expect(send).not.toHaveBeenCalled();
});
