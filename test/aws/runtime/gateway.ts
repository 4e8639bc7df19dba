import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { LoadedFunction } from '../../../serverless/local/functions.ts';
import { createGateway } from '../../../serverless/local/gateway.ts';
import { functions } from '../../../serverless/packaging/package-service.ts';
import type { LambdaInstance } from '../../../tools/runtime/lambda-instance.ts';
import { close, listen } from '../../../tools/runtime/loopback-server.ts';
import { toHttpResponse } from '../../../tools/runtime/runtime-api.ts';
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
    log: { logRequest() {}, logNotice() {}, logError() {} },
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

/** Makes a handler with a few instances, each of which takes one invocation after the other. */
function createHandler(start: () => Promise<LambdaInstance>): LoadedFunction['handler'] {
  const pool: { readonly instance: Promise<LambdaInstance>; pending: number }[] = [];
  return streamifyResponse(async (event, response) => {
    let member = pool.toSorted((one, other) => one.pending - other.pending)[0];
    if (member === undefined || (member.pending > 0 && pool.length < maxInstances)) {
      member = { instance: start(), pending: 0 };
      pool.push(member);
    }
    member.pending += 1;
    try {
      const { api } = await member.instance;
      const { statusCode, headers, body } = await toHttpResponse(await api.invoke(event));
      await pipeline(body, response.writeHead(statusCode, headers));
    } finally {
      member.pending -= 1;
    }
  });
}

/** The local gateway's version of a global of Lambda's Node runtime. */
const { streamifyResponse } = (globalThis as unknown as GlobalOfLambda).awslambda;

interface GlobalOfLambda {
  readonly awslambda: {
    streamifyResponse(
      handler: (event: unknown, response: ServerResponse) => Promise<void>,
    ): LoadedFunction['handler'];
  };
}
