/**
 * `npm run verify:fuzz`: Schemathesis makes requests from openapi.yaml, valid and not, sends them to the local service, and
 * compares every response with the description. It takes Schemathesis's options, like `--max-examples 1000`. Exit code 77
 * where there is no Python.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fragments } from '../../../conformance/fragments.ts';
import { defaultCredentials, LocalService, validToken } from '../../support/local-service.ts';
import { preparePython } from '../../support/python-environment.ts';

const hooks = { SCHEMATHESIS_HOOKS: 'test/reliability/fuzz/hooks.py', FRAGMENTS: JSON.stringify(fragments) };

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
      ...process.argv.slice(2),
    ],
    { stdio: 'inherit', env: { ...process.env, ...hooks } },
  );
  const [exitCode] = (await once(fuzzer, 'close')) as [number | null];
  process.exitCode = exitCode ?? 1;
} finally {
  await service.stop();
}
