import { onTestFinished } from 'vitest';
import type { LoadedFunction } from '../../serverless/local/functions/function-loader.ts';
import { createGateway } from '../../serverless/local/gateway/gateway.ts';
import { close, listen } from './loopback-server.ts';

/**
 * Starts the local gateway in this process, for the current test, with a function for one method and all paths of one
 * segment.
 *
 * @returns its port
 */
export async function startStubGateway(method: string, handler: LoadedFunction['handler']): Promise<number> {
  const events = [{ method, path: '/{name}' }];
  const functions: readonly LoadedFunction[] = [{ name: 'stub', timeoutMs: 10_000, events, handler }];
  const log = { logRequest() {}, logWarning() {}, logError() {} };
  const gateway = createGateway({ functions: () => functions, host: 'localhost', corsOrigin: undefined, log });
  onTestFinished(() => close(gateway));
  return listen(gateway);
}
