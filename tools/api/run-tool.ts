import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const tools = join(import.meta.dirname, 'node_modules/.bin');

/** The folder of the service. */
export const projectFolder = resolve(import.meta.dirname, '../..');

/**
 * Runs a command of a package in tools/api/package.json, in the folder of the service and without news of other versions.
 *
 * @param name - the command
 * @param args - its arguments
 * @returns what it wrote to standard output
 * @throws an Error with what it wrote, when it fails
 */
export async function runTool(name: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  try {
    const { stdout } = await run(process.execPath, [join(tools, name), ...args], { cwd: projectFolder, env });
    return stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${name} failed:\n${stdout}${stderr}`, { cause });
  }
}
