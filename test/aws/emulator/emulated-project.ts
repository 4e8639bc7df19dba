import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

/**
 * Copies this project and adapts the copy to the emulator.
 *
 * @param emulatorUrl - where the emulator listens
 * @returns its folder; `replace`, which replaces a text in one of its files and returns a function that restores it; and
 *   `remove`
 */
export function makeEmulatedProject(emulatorUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'book-catalog-emulated-'));
  const leftOut = /^(node_modules|\..*)$/;
  cpSync('.', folder, { recursive: true, filter: (source) => source === '.' || !leftOut.test(basename(source)) });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const replace = (file: string, text: string, replacement: string) => {
    const path = join(folder, file);
    const before = readFileSync(path, 'utf8');
    assert.ok(before.includes(text), `${file} does not hold ${text}`);
    writeFileSync(path, before.replace(text, replacement));
    return () => writeFileSync(path, before);
  };

  // The emulator accepts the transfer mode STREAM and then responds with 500.
  const list = 'handlers/list-books.ts';
  replace(list, 'import', "import '../test/support/collect-streams.ts';\nimport");
  // It uses HTTP, which the policy of the deployment bucket refuses for all but the root user.
  replace('serverless.yml', 'deploymentBucket:', 'deploymentBucket:\n    skipPolicySetup: true');
  // Each deploy removes all artifacts but its own, and those of the version before.
  replace('serverless.yml', 'Artifacts: 30', 'Artifacts: 1');
  // Requests to DynamoDB's address at AWS would leave the machine.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
  replace('serverless.yml', 'https://dynamodb.${AWS::Region}.${AWS::URLSuffix}', emulatorUrl);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation replaces it
  const address = 'https://${ApiGatewayRestApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}';
  replace('serverless.yml', address, `${emulatorUrl}/_aws/execute-api/\${ApiGatewayRestApi}`);
  replace('serverless.yml', 'transferMode: STREAM', 'transferMode: BUFFERED');
  replace('serverless.yml', 'timeoutInMillis: 310000', 'timeoutInMillis: 29000'); // only STREAM allows more
  // It has no X-Ray.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the framework replaces it
  replace('serverless.yml', '- ${file(serverless/resources/sampling.yml)}', '');
  // An alarm on the sum of several metrics fails the stack.
  const ofOneMetric = '.filter(([, { Properties }]) => !Properties.Metrics)';
  const kept = `Object.fromEntries(Object.entries(alarmResources)${ofOneMetric})`;
  replace('serverless/resources/alarms.js', '...alarmResources', `...${kept}`);
  return { folder, replace, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
