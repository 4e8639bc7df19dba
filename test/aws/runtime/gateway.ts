import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import { functions } from '../../../serverless/functions.ts';
import type { LoadedFunction } from '../../../serverless/local/functions/function-loader.ts';
import { createGateway } from '../../../serverless/local/gateway/gateway.ts';
import { close, listen } from '../../support/loopback-server.ts';
import type { LambdaInstance } from './lambda-instance.ts';
import { startFunction } from './start-function.ts';

/** More instances would only compete for the processors. */
const maxInstances = 3;

/**
 * Starts the local gateway in front of packaged functions, whose instances run under AWS's runtime client.
 *
 * @param environment - the environment variables of all functions, besides their settings
 */
export async function startGateway(environment: NodeJS.ProcessEnv) {
  const instances: Promise<LambdaInstance>[] = [];
  const loaded = functions.map(({ name, event }): LoadedFunction => {
    const start = () => {
      const instance = startFunction(name, environment);
      instances.push(instance);
      return instance;
    };
    return { name, timeoutMs: 0, events: [event], handler: createHandler(start) };
  });
  const server = createGateway({
    functions: () => loaded,
    host: 'localhost',
    corsOrigin: undefined,
    log: { logRequest() {}, logWarning() {}, logError() {} },
  });
  // Otherwise a connection may be closed at the moment when a client reuses it.
  server.keepAliveTimeout = 0;
  const baseUrl = `http://127.0.0.1:${await listen(server)}`;
  const stop = async () => {
    await close(server);
    for (const instance of instances) await (await instance).stop();
  };
  return { baseUrl, instances, stop };
}

/** Makes a handler that invokes an idle instance, or starts another one. */
function createHandler(start: () => Promise<LambdaInstance>): LoadedFunction['handler'] {
  const limit = pLimit(maxInstances);
  const idle: Promise<LambdaInstance>[] = [];
  return streamifyResponse((event, response) =>
    limit(async () => {
      const instance = idle.pop() ?? start();
      try {
        const { statusCode, headers, body } = await (await instance).api.invoke(event);
        await pipeline(body, response.writeHead(statusCode, headers));
      } finally {
        idle.push(instance);
      }
    }),
  );
}

/** The local gateway's version of a global of Lambda's Node runtime. */
const { streamifyResponse } = (globalThis as unknown as GlobalOfLambda).awslambda;

interface GlobalOfLambda {
  readonly awslambda: {
    streamifyResponse(handler: (event: unknown, response: ServerResponse) => Promise<void>): LoadedFunction['handler'];
  };
}
