import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { LoadedFunction } from '../../../serverless/local/functions.ts';
import { createGateway } from '../../../serverless/local/gateway.ts';
import { type LambdaInstance, startLambdaInstance } from '../../simulators/lambda-instance.ts';
import { close, listen } from '../../simulators/loopback-server.ts';
import { toHttpResponse } from '../../simulators/runtime-api.ts';
import { functions } from '../../support/package-service.ts';

/** More instances would only compete for the processors. */
const maxInstances = 3;

/** The local gateway in front of packaged functions, whose instances run under AWS's runtime client. */
export class Gateway {
  readonly #instances: Promise<LambdaInstance>[] = [];
  readonly #server: Server;

  private constructor(functionsFolder: string, environment: NodeJS.ProcessEnv) {
    const loaded = functions.map(({ name, handler, event }): LoadedFunction => {
      const start = () => startLambdaInstance(join(functionsFolder, name), handler, environment);
      return { name, timeoutMs: 0, events: [event], handler: this.#createHandler(start) };
    });
    this.#server = createGateway({
      functions: () => loaded,
      corsOrigin: undefined,
      onResponse() {},
      onError() {},
    });
    // Otherwise a connection may be closed at the moment when a client reuses it.
    this.#server.keepAliveTimeout = 0;
  }

  /** Starts a gateway on a free loopback port for the functions in a folder, with their environment variables. */
  static async start(functionsFolder: string, environment: NodeJS.ProcessEnv): Promise<Gateway> {
    const gateway = new Gateway(functionsFolder, environment);
    await listen(gateway.#server);
    return gateway;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    await close(this.#server);
    for (const instance of this.#instances) await (await instance).stop();
  }

  /** Makes a handler with a few instances, each of which handles one invocation at a time. */
  #createHandler(start: () => Promise<LambdaInstance>): LoadedFunction['handler'] {
    const pool: { readonly instance: Promise<LambdaInstance>; pending: number; last: Promise<unknown> }[] =
      [];
    return streamifyResponse(async (event, response) => {
      let member = pool.toSorted((one, other) => one.pending - other.pending)[0];
      if (member === undefined || (member.pending > 0 && pool.length < maxInstances)) {
        const instance = start();
        this.#instances.push(instance);
        member = { instance, pending: 0, last: Promise.resolve() };
        pool.push(member);
      }
      const { instance, last } = member;
      const done = last.then(async () => {
        const { statusCode, headers, body } = await toHttpResponse(await (await instance).api.invoke(event));
        await pipeline(body, response.writeHead(statusCode, headers));
      });
      member.pending += 1;
      member.last = done.catch(() => {}).finally(() => (member.pending -= 1));
      await done;
    });
  }
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
