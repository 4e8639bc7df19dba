/** `npm run openapi`. */

import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseOptions } from '../parse-options.ts';
import { descriptionFile, readDescription } from './description.ts';

const usage = `Usage: npm run openapi [-- --check]

Writes the part of openapi.yaml that is generated from the sources of the service. With --check it writes nothing, lints
openapi.yaml, and fails when that part is not current.`;

const { check: isCheck } = parseOptions(usage, { check: { type: 'boolean' } }).values;

try {
  const { text, current } = await readDescription();
  if (!isCheck) writeFileSync(descriptionFile, current);
  else if (text !== current) throw new Error('openapi.yaml is not current: run `npm run openapi`');
  else lint();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

/** Installs the linter, and runs it in this folder, where it looks for its list of exceptions. */
function lint(): void {
  execFileSync('../install', { cwd: import.meta.dirname, stdio: 'inherit' });
  const redocly = ['../node_modules/.bin/redocly', 'lint', descriptionFile, '--extends', 'recommended-strict'];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { status } = spawnSync(process.execPath, redocly, { cwd: import.meta.dirname, env, stdio: 'inherit' });
  if (status !== 0) throw new Error('openapi.yaml is not valid');
}
