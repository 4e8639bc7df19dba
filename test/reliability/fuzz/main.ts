/**
 * `npm run verify:fuzz`: Schemathesis makes requests from openapi.yaml, valid and not, sends them to the local service, and
 * compares every response with the description. Exit code 77 where there is no Python.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { defaultCredentials, LocalService, validToken } from '../../local/local-service.ts';
import { fragments } from '../../support/any-text.ts';
import { NoPythonError, preparePython } from '../../support/python-environment.ts';

const noPythonExitCode = 77;

const hooks = {
  SCHEMATHESIS_HOOKS: 'test/reliability/fuzz/hooks.py',
  FRAGMENTS: JSON.stringify(fragments),
};

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
  // The example in openapi.yaml is then a valid login.
  const service = await LocalService.start(defaultCredentials);
  try {
    const fuzzer = spawn(
      command('schemathesis'),
      [
        ...['--config-file', 'test/reliability/fuzz/schemathesis.toml', 'run', 'openapi.yaml'],
        ...['--url', service.baseUrl, '--header', `Authorization: ${validToken}`],
        ...options,
      ],
      { stdio: 'inherit', env: { ...process.env, ...hooks } },
    );
    const [exitCode] = (await once(fuzzer, 'close')) as [number | null];
    return exitCode ?? 1;
  } finally {
    await service.stop();
  }
}
