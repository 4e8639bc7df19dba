/**
 * `npm run verify:dynamodb-local`: the integration tests and the conformance suite, on Amazon's own DynamoDB Local in place of
 * dynalite. Exit code 77 without Java or Maven.
 */

import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { startServerProcess } from '../../fakes/server-process.ts';
import { findFreePort } from '../../support/free-port.ts';
import { endForMissingTool } from '../../support/missing-tool.ts';

/** The jars, with the native SQLite library. Git ignores it. */
const folder = resolve('.dynamodb-local');

if (spawnSync('java', ['-version']).error || spawnSync('mvn', ['--version']).error) {
  endForMissingTool('Not tested: Java 17 or newer and Maven are needed.');
}
run('mvn', [
  '-q',
  '-B',
  '-f',
  join(import.meta.dirname, 'pom.xml'),
  'dependency:copy-dependencies',
  `-DoutputDirectory=${folder}`,
  '-DincludeScope=runtime',
]);

// In memory, without its telemetry. It listens on all addresses of the machine, which it has no setting for.
const port = await findFreePort();
const endpoint = `http://127.0.0.1:${port}`;
const server = ['-cp', join(folder, '*'), 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner'];
const options = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
const stop = await startServerProcess(endpoint, ['java', `-Djava.library.path=${folder}`, ...server, ...options], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  const projects = ['--project', 'integration', '--project', 'conformance'];
  run('vitest', ['run', ...projects], { TEST_DYNAMODB_ENDPOINT: endpoint });
} finally {
  await stop();
}

function run(command: string, args: readonly string[], environment?: NodeJS.ProcessEnv): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  if (status !== 0) throw new Error(`${command} failed`, { cause: error });
}
