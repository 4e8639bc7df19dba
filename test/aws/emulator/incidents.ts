import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { readStack } from '../../../tools/operations/deployed-stage.ts';
import { type EmulatedStage, StackName, stage } from './emulated-stage.ts';

const read = (page: string) => readFileSync(`docs/${page}.md`, 'utf8');
const incidents = read('incidents');

/** The blocks of commands in a section of a page. */
function findBlocks(page: string, title: string): readonly string[] {
  const [, section = ''] = new RegExp(`\\n## ${title}\\n(.*?)\\n## `, 's').exec(read(page)) ?? [];
  return section.match(/(?<=\n\n)(?: {4}.*\n)+/g) ?? [];
}

/** Sends a request, and runs the first command for everything that somebody may see. */
export async function tryFirstCommands({ runShell, withCatalog }: EmulatedStage): Promise<void> {
  const [block = ''] = findBlocks('incidents', 'Begin here');
  const setup = block.replace(/AWS_PROFILE=\S+/, '');
  const [, table = ''] = /\n\| What you see \|(.*?)\n\n/s.exec(incidents) ?? [];
  const commands = [...table.matchAll(/^\|[^|]*\| `(.*?)` \|/gm)].map(([, command = '']) => command);
  assert.ok(commands.length > 15);
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

/** Changes by hand what keeps the books and a log, finds it, and brings it back, as docs/operations.md says. */
export async function changeByHand({ runShell }: EmulatedStage): Promise<void> {
  const logGroupName = `/aws/lambda/${StackName}-createToken`;
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: false };
  await new DynamoDB().updateContinuousBackups({ TableName: StackName, PointInTimeRecoverySpecification });
  await new DynamoDB().updateTable({ TableName: StackName, DeletionProtectionEnabled: false });
  const [detection = ''] = findBlocks('operations', 'Changes by hand');
  const detect = () => runShell(`STACK=${StackName}\n${detection}`);
  await new CloudWatchLogs().deleteLogGroup({ logGroupName });
  assert.match(await detect(), /CreateTokenLogGroup\tDELETED/);

  const [, table = ''] = /\n\| Changed \|(.*?)\n\n/s.exec(read('operations')) ?? [];
  const linesOf = (changed: string) =>
    [...(new RegExp(`^\\| ${changed} \\| (.*)$`, 'm').exec(table)?.[1] ?? '').matchAll(/`(.*?)`/g)].map(
      ([, line]) => line,
    );
  const remedies = ['The recovery', 'The protection of the table', 'The log group of a function'].flatMap(linesOf);
  assert.equal(remedies.length, 4);
  await runShell(`STACK=${StackName}\n${remedies.join('\n').replaceAll('NAME', logGroupName)}`);
  assert.doesNotMatch(await detect(), /CreateTokenLogGroup|BookTable/);
}

/** Deletes the secret with the password: first so that it can be restored, then for good. */
export async function loseSecret({ runShell, run, project, withCatalog }: EmulatedStage): Promise<void> {
  const client = new SecretsManager();
  const { CredentialsSecret: SecretId = '' } = (await readStack(stage)).outputs;
  await client.deleteSecret({ SecretId });
  await runShell(`aws secretsmanager restore-secret --secret-id ${SecretId}`);
  await run('deploy', '--force');

  await client.deleteSecret({ SecretId, ForceDeleteWithoutRecovery: true });
  project.replace('serverless/resources/secrets.yml', '-login', '-login-2');
  await run('deploy');
  assert.notEqual((await readStack(stage)).outputs.CredentialsSecret, SecretId);
  await withCatalog((catalog) => catalog.createBook());
}
