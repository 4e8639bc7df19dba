import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '../../fakes/server-process.ts';
import { findFreePort } from '../../support/free-port.ts';

/**
 * Starts ministack on a free loopback port. It keeps everything in memory, checks the IAM policies of whoever calls,
 * functions included, and runs functions on the Node that is first on the PATH.
 *
 * @param command - path of the command `ministack`
 * @param region - the one region that it plays
 */
export async function startEmulator(command: string, region: string) {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'ministack-'));
  const logFile = join(folder, 'log.txt');
  const logHandle = openSync(logFile, 'a');
  const url = `http://127.0.0.1:${port}`;
  const log = () => readFileSync(logFile, 'utf8');
  const stop = await startServerProcess(`${url}/_ministack/health`, [command], {
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
  }).catch((cause) => {
    throw new Error(`the emulator did not start:\n${log()}`, { cause });
  });
  return {
    /** What AWS_ENDPOINT_URL has to be. An IP address, so that the S3 client puts bucket names into paths. */
    url,
    /** What the emulator has logged, functions included. */
    log,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
