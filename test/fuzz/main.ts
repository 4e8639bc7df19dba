/**
 * `npm run test:fuzz`: Schemathesis makes requests from openapi.yaml, valid and not, sends them to the local service, and
 * compares every answer with the description. Exit code 77 where there is no Python.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { authorize } from '../e2e/http.ts';
import { createDataFolder, LocalService } from '../e2e/local-service.ts';
import { NoPythonError, preparePython } from '../support/python-environment.ts';

const noPythonExitCode = 77;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof NoPythonError)) throw error;
  process.stderr.write(`Not tested: ${error.message}\n`);
  process.exitCode = noPythonExitCode;
}

/** @param options - Schemathesis's own, like `--max-examples 1000` */
async function main(options: readonly string[]): Promise<number> {
  // Git ignores it.
  const command = preparePython('.venv-fuzz', 'test/fuzz/requirements.txt');
  const dataFolder = await createDataFolder();
  const service = await LocalService.start({ DB_PATH: dataFolder });
  try {
    const { Authorization } = await authorize(service.baseUrl);
    const fuzzer = spawn(
      command('schemathesis'),
      [
        ...['--config-file', 'test/fuzz/schemathesis.toml', 'run', 'openapi.yaml'],
        ...['--url', service.baseUrl, '--header', `Authorization: ${Authorization}`],
        ...options,
      ],
      { stdio: 'inherit' },
    );
    const [exitCode] = (await once(fuzzer, 'close')) as [number | null];
    return exitCode ?? 1;
  } finally {
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}
