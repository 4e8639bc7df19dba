import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Python is missing, or cannot make a virtual environment. */
export class NoPythonError extends Error {
  override readonly name = 'NoPythonError';
}

/**
 * Makes a virtual environment with the pinned packages of a requirements file, unless it is there already.
 *
 * @param folder - the environment's folder, which git ignores
 * @param requirementsFile - the packages, each with its version
 * @returns a function that gives the path of one of the environment's commands
 * @throws {NoPythonError} when the machine has no usable Python
 */
export function preparePython(folder: string, requirementsFile: string): (command: string) => string {
  const requirements = readFileSync(requirementsFile, 'utf8');
  const marker = join(folder, 'installed.txt');
  const commandPath = (command: string): string => join(folder, 'bin', command);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === requirements) return commandPath;
  const made = spawnSync('python3', ['-m', 'venv', '--clear', folder], { encoding: 'utf8' });
  if (made.status !== 0) {
    throw new NoPythonError(
      `Python 3.11 or newer with its module venv is needed: ${made.error?.message ?? made.stdout + made.stderr}`,
    );
  }
  const installed = spawnSync(commandPath('pip'), ['install', '--quiet', '--requirement', requirementsFile], {
    stdio: 'inherit',
    env: { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  });
  if (installed.status !== 0) throw new Error(`pip could not install ${requirementsFile}`);
  writeFileSync(marker, requirements);
  return commandPath;
}
