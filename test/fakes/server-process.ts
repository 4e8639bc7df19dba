import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

const startDeadlineMs = 60_000;

/** Starts a server and waits until it responds at a URL, without an error of its own. @returns what stops it */
export async function startServerProcess(
  url: string,
  [command, ...args]: readonly [string, ...string[]],
  options: SpawnOptions,
): Promise<() => Promise<void>> {
  const child = spawn(command, args, options);
  const exited = once(child, 'exit');
  const ended = exited.then(([code]) => Promise.reject(new Error(`${command} ended with exit code ${code}`)));
  ended.catch(() => {});
  const stop = async () => {
    child.kill();
    await exited;
  };
  for (const deadline = Date.now() + startDeadlineMs; Date.now() < deadline; ) {
    const response = await Promise.race([fetch(url).catch(() => undefined), ended]);
    if (response && response.status < 500) return stop;
    await wait(100);
  }
  await stop();
  throw new Error(`${command} did not start`);
}
