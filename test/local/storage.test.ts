import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { request } from '../../conformance/http-client.ts';
import { LocalService } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const unavailable = { status: 503, message: 'Service unavailable', data: null };

// Without a listener, the system ends a process that writes beyond its limit.
const local = await useLocalService({ NODE_OPTIONS: "--import=data:text/javascript,process.on('SIGXFSZ',()=>{})" });

// LevelDB recovers nothing of its log after a record that was written in part.
test('a full disk gives 503, and no acknowledged book is lost', async () => {
  const create = () => local.send('POST', '/book', { title: 'x'.repeat(3000) });
  const acknowledged: unknown[] = [];
  for (let book = 0; book < 5; book += 1) acknowledged.push((await create()).envelope.data);

  await limitFileSize('1024:');
  const refused = await Promise.all(Array.from({ length: 5 }, create));
  await local.service.kill();

  const restarted = await LocalService.start({ DB_PATH: local.service.dataFolder });
  const { envelope } = await request(`${restarted.baseUrl}/books`, { headers: local.headers });
  await restarted.stop();

  expect(refused.map((response) => response.envelope)).toEqual(Array(5).fill(unavailable));
  expect(envelope.data).toEqual(acknowledged);
  expect(local.service.output).toMatch(/The data folder .* cannot be used \(.* Then start the service again\.\n/);
});

/** Writes of the service then fail as on a full disk: no file grows beyond a limit in bytes. */
async function limitFileSize(limit: string): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(local.service.processId), `--fsize=${limit}`]);
}
