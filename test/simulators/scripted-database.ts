import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { close, listen } from '../support/loopback-server.ts';

/**
 * Starts a database that stores nothing, for responses that no engine would send. It stops after the test. Tests of what is
 * stored have an engine (engine.ts), with a proxy in between for faults (faulty-proxy.ts).
 */
export async function startScriptedDatabase(respond: RequestListener) {
  const server = createServer(respond);
  onTestFinished(() => close(server));
  return { server, endpoint: `http://127.0.0.1:${await listen(server)}` };
}
