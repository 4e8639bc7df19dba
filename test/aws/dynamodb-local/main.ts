/**
 * `npm run verify:dynamodb-local`: the integration tests, and the conformance suite against the local service, on Amazon's
 * own DynamoDB Local in place of dynalite. Exit code 77 where there is no Java or no Maven.
 */

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { runSuite } from '../../conformance/run-suite.ts';
import { LocalService, testSettings } from '../../local/local-service.ts';
import { installEngine, NoJavaError, startEngine } from '../../simulators/dynamodb-local.ts';

/** Git ignores it. */
const folder = resolve('.dynamodb-local');
const noJavaExitCode = 77;

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof NoJavaError)) throw error;
  process.stderr.write(`Not tested: ${error.message}\n`);
  process.exitCode = noJavaExitCode;
}

async function main(): Promise<number> {
  installEngine(folder, 'test/aws/dynamodb-local/pom.xml');
  const engine = await startEngine(folder);
  try {
    return runIntegrationTests(engine.endpoint) && (await runConformanceSuite(engine.endpoint)) ? 0 : 1;
  } finally {
    await engine.stop();
  }
}

function runIntegrationTests(endpoint: string): boolean {
  const { status } = spawnSync('vitest', ['run', '--project', 'integration'], {
    stdio: 'inherit',
    env: { ...process.env, TEST_DYNAMODB_ENDPOINT: endpoint },
  });
  return status === 0;
}

async function runConformanceSuite(endpoint: string): Promise<boolean> {
  const service = await LocalService.start({ DB_URL: `${endpoint}/books` });
  try {
    const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
    return (await runSuite({ baseUrl: service.baseUrl, username, password, secret })) === 0;
  } finally {
    await service.stop();
  }
}
