import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findFreePort } from '../support/free-port.ts';

/** A running AWS emulator. */
export interface Emulator {
  /** What AWS_ENDPOINT_URL has to be. An IP address, so that the S3 client puts bucket names into paths. */
  readonly url: string;
  /** What the emulator has logged, functions included. */
  log(): string;
  stop(): Promise<void>;
}

const startDeadlineMs = 60_000;

/**
 * Starts ministack on a free loopback port. It keeps everything in memory, checks the IAM policies of whoever calls,
 * functions included, and runs functions on the Node that is first on the PATH.
 *
 * @param command - path of the command `ministack`
 * @param region - the one region that it plays
 */
export async function startEmulator(command: string, region: string): Promise<Emulator> {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'ministack-'));
  const logFile = join(folder, 'log.txt');
  const logHandle = openSync(logFile, 'a');
  const child = spawn(command, {
    stdio: ['ignore', logHandle, logHandle],
    env: {
      PATH: process.env.PATH,
      TMPDIR: folder,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      MINISTACK_REGION: region,
      AUTH: 'true',
      SFTP_ENABLED: '0',
      IOT_MTLS_ENABLED: '0',
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const log = (): string => readFileSync(logFile, 'utf8');
  await waitUntilReady(url, child, log);
  return {
    url,
    log,
    async stop() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function waitUntilReady(url: string, child: ChildProcess, log: () => string): Promise<void> {
  const deadline = Date.now() + startDeadlineMs;
  while (Date.now() < deadline && child.exitCode === null) {
    try {
      if ((await fetch(`${url}/_ministack/health`)).ok) return;
    } catch {
      // not listening yet
    }
    await wait(100);
  }
  child.kill();
  throw new Error(`the emulator did not start:\n${log()}`);
}
