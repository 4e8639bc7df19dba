/**
 * `npm run verify:fuzz`: Schemathesis makes requests from openapi.yaml, valid and not, sends them to the local service, and
 * compares every answer with the description. Exit code 77 where there is no Python.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createBookCatalogClient } from '../../../tools/client/book-catalog-client.ts';
import { createDataFolder, LocalService } from '../../local/local-service.ts';
import { NoPythonError, preparePython } from '../../support/python-environment.ts';

const noPythonExitCode = 77;

/** The login that openapi.yaml has as its example, so that it is one that succeeds. */
const exampleLogin = { username: 'admin', password: 'password' };

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
  const { username, password } = exampleLogin;
  const service = await LocalService.start({
    DB_PATH: dataFolder,
    AUTH_USERNAME: username,
    AUTH_PASSWORD: password,
  });
  try {
    const client = createBookCatalogClient({ baseUrl: service.baseUrl, ...exampleLogin });
    const { data: login } = await client.POST('/token', { body: exampleLogin });
    const fuzzer = spawn(
      command('schemathesis'),
      [
        ...['--config-file', 'test/reliability/fuzz/schemathesis.toml', 'run', 'openapi.yaml'],
        ...['--url', service.baseUrl, '--header', `Authorization: ${login?.data.token}`],
        ...options,
      ],
      { stdio: 'inherit', env: { ...process.env, SCHEMATHESIS_HOOKS: 'test/reliability/fuzz/hooks.py' } },
    );
    const [exitCode] = (await once(fuzzer, 'close')) as [number | null];
    return exitCode ?? 1;
  } finally {
    await service.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}
