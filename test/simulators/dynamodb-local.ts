import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findFreePort } from '../support/free-port.ts';

/** There is no Java here, or no Maven. */
export class NoJavaError extends Error {
  override readonly name = 'NoJavaError';
}

/** A running DynamoDB Local. */
export interface Engine {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const startDeadlineMs = 60_000;

/**
 * Fetches DynamoDB Local with its native SQLite library, unless it is there already.
 *
 * @param folder - absolute path of where the jars go
 * @param pomFile - names the version
 * @throws {NoJavaError} when Maven is missing
 */
export function installEngine(folder: string, pomFile: string): void {
  const pom = readFileSync(pomFile, 'utf8');
  const marker = join(folder, 'installed.xml');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === pom) return;
  const { status, error } = spawnSync(
    'mvn',
    [
      '-q',
      '-B',
      '-f',
      pomFile,
      'dependency:copy-dependencies',
      `-DoutputDirectory=${folder}`,
      '-DincludeScope=runtime',
    ],
    { stdio: 'inherit' },
  );
  if (error) throw new NoJavaError(`Java 17 or newer and Maven are needed: ${error.message}`);
  if (status !== 0) throw new Error(`Maven could not fetch what ${pomFile} names`);
  writeFileSync(marker, pom);
}

/**
 * Starts DynamoDB Local on a free port, in memory, without its telemetry. It listens on all addresses of the machine,
 * which it has no setting for.
 *
 * @param folder - the jars
 * @throws {NoJavaError} when Java is missing
 */
export async function startEngine(folder: string): Promise<Engine> {
  const port = await findFreePort();
  const child = spawn(
    'java',
    [
      `-Djava.library.path=${folder}`,
      '-cp',
      join(folder, '*'),
      'com.amazonaws.services.dynamodbv2.local.main.ServerRunner',
      ...['-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const failure = once(child, 'error').then(([error]) => {
    throw new NoJavaError(`Java 17 or newer is needed: ${error.message}`);
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await Promise.race([waitUntilReady(endpoint, child), failure]);
  return {
    endpoint,
    async stop() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** Waits for any response; a request without an operation gets 400. */
async function waitUntilReady(endpoint: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + startDeadlineMs;
  while (Date.now() < deadline && child.exitCode === null) {
    try {
      await fetch(endpoint);
      return;
    } catch {
      await wait(100);
    }
  }
  child.kill();
  throw new Error('DynamoDB Local did not start');
}
