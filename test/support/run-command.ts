import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** How a command ended. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
}

/**
 * Runs a command and shows what it prints. Without blocking: the proxy that the command talks to is in this process.
 *
 * @param command - the command
 * @param args - its arguments
 * @param folder - where to run it
 * @param env - its environment
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stdout, { end: false });
  const [stdout, [status]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { status, stdout };
}
