import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { findBlocks } from './documents.ts';
import { type EmulatedStage, StackName } from './emulated-stage.ts';
import { checkCompleteness } from './restores.ts';

/** Sends a request, and runs the first command for everything that somebody may see. */
export async function tryFirstCommands({ runShell, withCatalog }: EmulatedStage): Promise<void> {
  const [block = ''] = findBlocks('incidents', 'Begin here');
  const setup = block.replace(/AWS_PROFILE=\S+/, '');
  const [, table = ''] = /\n\| What you see \|(.*?)\n\n/s.exec(readFileSync('docs/incidents.md', 'utf8')) ?? [];
  const commands = [...table.matchAll(/^\|[^|]*\| `(.*?)` \|/gm)].map(([, command = '']) => command);
  assert.ok(commands.length > 12);
  // The emulator does not answer at the address in the outputs.
  const tried = new Set(commands.filter((command) => command !== 'trace ID' && !command.startsWith('curl ')));
  const { headers } = await withCatalog((catalog) => catalog.call('GET', '/book/0'));
  assert.ok(headers);
  const logGroupName = `/aws/lambda/${StackName}-getBook`;
  const { events = [] } = await new CloudWatchLogs().filterLogEvents({ logGroupName });
  const [, id = ''] = /"apiRequestId":"(.*?)"/.exec(events.map(({ message }) => message).join('\n')) ?? [];
  const shown = await runShell(`${setup}\n${[...tried].join('\n')}\ntrace ${id}`);
  assert.match(shown, new RegExp(`"apiRequestId":"${id}","route":"GET /book/{id}"`));
}

/** Changes by hand what keeps the books, finds it, and brings it back, as docs/operations.md says. */
export async function changeByHand({ runShell, restore }: EmulatedStage): Promise<void> {
  const client = new DynamoDB();
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: false };
  await client.updateContinuousBackups({ TableName: StackName, PointInTimeRecoverySpecification });
  await client.updateTable({ TableName: StackName, DeletionProtectionEnabled: false });
  const logGroup = { logGroupName: `/aws/lambda/${StackName}-createToken` };
  await new CloudWatchLogs().deleteLogGroup(logGroup);
  const detection = findBlocks('operations', 'Watch it').find((block) => block.includes('detect-stack-drift')) ?? '';
  assert.match(await runShell(detection), /CreateTokenLogGroup\tDELETED/);
  await new CloudWatchLogs().createLogGroup(logGroup);

  assert.equal((await restore('--table', StackName)).status, 0);
  await checkCompleteness(StackName);
  assert.doesNotMatch(await runShell(detection), /BookTable/);
}
