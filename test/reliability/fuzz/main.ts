/**
 * `npm run verify:fuzz`: Schemathesis makes requests from openapi.yaml, valid and not, sends them to the local service, and
 * compares every response with the description. Exit code 77 where there is no Python.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createDataFolder, LocalService, testSettings } from '../../local/local-service.ts';
import { fragments } from '../../support/any-text.ts';
import { forgeToken } from '../../support/forge-token.ts';
import { NoPythonError, preparePython } from '../../support/python-environment.ts';

const noPythonExitCode = 77;

const hooks = {
  SCHEMATHESIS_HOOKS: 'test/reliability/fuzz/hooks.py',
  FRAGMENTS: JSON.stringify(fragments),
};

/** The example in openapi.yaml, so that it is a valid login. */
const exampleLogin = { AUTH_USERNAME: 'admin', AUTH_PASSWORD: 'password' };

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
  const command = preparePython('.venv-fuzz', 'test/reliability/fuzz/requirements.txt');
  const dataFolder = await createDataFolder();
  const service = await LocalService.start({ DB_PATH: dataFolder, ...exampleLogin });
  try {
    const token = forgeToken({ secret: testSettings.SECRET_TOKEN });
    const fuzzer = spawn(
      command('schemathesis'),
      [
        ...['--config-file', 'test/reliability/fuzz/schemathesis.toml', 'run', 'openapi.yaml'],
        ...['--url', service.baseUrl, '--header', `Authorization: ${token}`],
        ...options,
      ],
      { stdio: 'inherit', env: { ...process.env, ...hooks } },
    );
    const [exitCode] = (await once(fuzzer, 'close')) as [number | null];
    return exitCode ?? 1;
  } finally {
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}
