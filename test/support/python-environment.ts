import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endForMissingTool } from './missing-tool.ts';

/**
 * Makes a virtual environment with the pinned packages of a requirements file, unless it is there already. Ends the process
 * with exit code 77 when the machine has no usable Python.
 *
 * @param folder - the environment's folder, which git ignores
 * @param requirementsFile - the packages, each with its version
 * @returns a function that gives the path of one of the environment's commands
 */
export function preparePython(folder: string, requirementsFile: string): (command: string) => string {
  const requirements = readFileSync(requirementsFile, 'utf8');
  const marker = join(folder, 'installed.txt');
  const commandPath = (command: string): string => join(folder, 'bin', command);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === requirements) return commandPath;
  const made = spawnSync('python3', ['-m', 'venv', '--clear', folder], { encoding: 'utf8' });
  if (made.status !== 0) {
    const reason = made.error?.message ?? made.stdout + made.stderr;
    endForMissingTool(`Not tested: Python 3.11 or newer with its module venv is needed: ${reason}`);
  }
  const installed = spawnSync(commandPath('pip'), ['install', '--quiet', '--requirement', requirementsFile], {
    stdio: 'inherit',
    env: { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  });
  if (installed.status !== 0) throw new Error(`pip could not install ${requirementsFile}`);
  writeFileSync(marker, requirements);
  return commandPath;
}
