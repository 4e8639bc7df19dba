import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Runs a command and shows what it prints. Without blocking: the proxy that the command talks to is in this process. */
export async function runCommand(
  command: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
) {
  const child = spawn(command, args, { cwd: folder, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(process.stdout, { end: false });
  child.stderr.pipe(process.stderr, { end: false });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: child.exitCode, stdout, stderr };
}
