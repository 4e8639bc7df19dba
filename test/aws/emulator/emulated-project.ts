import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { functions } from '../../../serverless/functions.ts';

const leftOut = /^(node_modules|\..*)$/;

/**
 * Copies this project and adapts the copy to the emulator.
 *
 * @param emulatorUrl - where the emulator listens
 * @returns its folder; `replace`, which replaces a text everywhere in one of its files and returns a function that
 *   restores it; `setParameters`, which sets parameters of the stage prod; and `remove`
 */
export function makeEmulatedProject(emulatorUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'book-catalog-copy-'));
  cpSync('.', folder, { recursive: true, filter: (source) => source === '.' || !leftOut.test(basename(source)) });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const replace = (file: string, text: string, replacement: string) => {
    const path = join(folder, file);
    const before = readFileSync(path, 'utf8');
    assert.ok(before.includes(text), `${file} does not hold ${text}`);
    writeFileSync(path, before.replaceAll(text, replacement));
    return () => writeFileSync(path, before);
  };

  // The emulator accepts the transfer mode STREAM and then responds with 500.
  const exported = 'export const handler =';
  const collecting = `import '../test/support/collect-streams.ts';\n${exported}`;
  for (const { handler } of functions) replace(handler.replace(/\.handler$/, '.ts'), exported, collecting);
  // It uses HTTP, which the policy of the deployment bucket refuses for all but the root user.
  replace('serverless.yml', 'deploymentBucket:', 'deploymentBucket:\n    skipPolicySetup: true');
  // Requests to DynamoDB's address at AWS would leave the machine.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
  replace('serverless.yml', 'https://dynamodb.${AWS::Region}.${AWS::URLSuffix}', emulatorUrl);
  replace('serverless.yml', 'transferMode: STREAM', 'transferMode: BUFFERED');
  replace('serverless.yml', 'timeoutInMillis: 310000', 'timeoutInMillis: 29000'); // only STREAM allows more
  // A computed metric fails the stack.
  const oneMetric = "Namespace: 'AWS/ApiGateway', MetricName: 'Count', Statistic: 'Sum', Period: 60";
  const others = '(({ Metrics, ...others }) => others)(properties)';
  replace('serverless/resources/alarms.js', '...properties }', `${oneMetric}, ...${others} }`);
  const setParameters = (values: Readonly<Record<string, string>>) => {
    const lines = Object.entries(values).map(([name, value]) => `  ${name}: ${value}\n`);
    replace('serverless/stages.yml', '\nprod:\n', `\nprod:\n${lines.join('')}`);
  };
  return { folder, replace, setParameters, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
