import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { parentPort } from 'node:worker_threads';

const blockedMs = 2_000;

/** V8 runs it even within an endless loop. @see https://nodejs.org/api/inspector.html */
const interruption = `process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM'); new Error().stack`;

const notice = `The event loop has been blocked for ${blockedMs / 1000} s, as by an endless loop. Ctrl-C ends the service at once.`;

const timer = setTimeout(() => {
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: interruption }, (_error, reply) => {
    const [, , ...frames] = String(reply?.result.value).split('\n');
    // process.stdout belongs to the main thread.
    writeSync(1, `${[notice, ...frames].join('\n')}\n`);
    session.disconnect();
  });
}, blockedMs);
parentPort?.on('message', () => timer.refresh());
