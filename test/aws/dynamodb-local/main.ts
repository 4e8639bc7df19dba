/**
 * `npm run verify:dynamodb-local`: the integration tests, and the conformance suite against the local service, on Amazon's
 * own DynamoDB Local in place of dynalite. Exit code 77 where there is no Java or no Maven.
 */

import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { runSuite } from '../../../conformance/run-suite.ts';
import { findFreePort } from '../../../tools/local/free-port.ts';
import { LocalService, testSettings } from '../../../tools/local/local-service.ts';
import { endForMissingTool } from '../../../tools/toolchains/missing-tool.ts';
import { startServerProcess } from '../../simulators/server-process.ts';

/** The jars, with the native SQLite library. Git ignores it. */
const folder = resolve('.dynamodb-local');

if (spawnSync('java', ['-version']).error || spawnSync('mvn', ['--version']).error) {
  endForMissingTool('Not tested: Java 17 or newer and Maven are needed.');
}
run('mvn', [
  ...['-q', '-B', '-f', join(import.meta.dirname, 'pom.xml'), 'dependency:copy-dependencies'],
  ...[`-DoutputDirectory=${folder}`, '-DincludeScope=runtime'],
]);

// In memory, without its telemetry. It listens on all addresses of the machine, which it has no setting for.
const port = await findFreePort();
const endpoint = `http://127.0.0.1:${port}`;
const server = ['-cp', join(folder, '*'), 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner'];
const options = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
const stop = await startServerProcess(
  endpoint,
  ['java', `-Djava.library.path=${folder}`, ...server, ...options],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
try {
  run('vitest', ['run', '--project', 'integration'], { TEST_DYNAMODB_ENDPOINT: endpoint });
  process.exitCode = await runConformanceSuite();
} finally {
  await stop();
}

function run(command: string, args: readonly string[], environment?: NodeJS.ProcessEnv): void {
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw new Error(`${command} failed`, { cause: error });
}

async function runConformanceSuite(): Promise<number> {
  const service = await LocalService.start({ DB_URL: `${endpoint}/books` });
  try {
    const { SECRET_TOKEN: secret, AUTH_USERNAME: username, AUTH_PASSWORD: password } = testSettings;
    return (await runSuite({ baseUrl: service.baseUrl, username, password, secret })).exitCode;
  } finally {
    await service.stop();
  }
}
