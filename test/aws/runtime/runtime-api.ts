import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer, json, text } from 'node:stream/consumers';
import { close, listen } from '../../support/loopback-server.ts';

/** The response of a function, as API Gateway would send it to the client. */
export interface FunctionResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, base64 decoded; breaks off with an error when the function fails half-way. */
  readonly body: AsyncIterable<Buffer>;
}

interface Invocation extends PromiseWithResolvers<FunctionResponse> {
  readonly id: string;
  readonly event: unknown;
}

/** The function's timeout. */
const timeoutMs = 30_000;

/** Of a response that is not streamed: "Lambda quotas", as its error message gives it. */
const maxPayloadBytes = 6_291_556;

/** Lambda's Runtime API ("Using the Lambda runtime API for custom runtimes"), for one function instance. */
export class RuntimeApi {
  // Lambda keeps the connections of an instance, however long an invocation takes.
  readonly #server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    // The reader of the response sees that the instance has ended or has cut it off.
    this.#serve(request, response).catch(() => response.destroy());
  });
  readonly #invocations = new Map<string, Invocation>();
  readonly #queue: Invocation[] = [];
  /** The value of AWS_LAMBDA_RUNTIME_API. */
  address = '';
  #waiting: ServerResponse | undefined;

  readonly #init = Promise.withResolvers<void>();
  /** Resolves when the instance asks for its first invocation; rejects when its INIT phase fails. */
  readonly initialized = this.#init.promise;

  static async start(): Promise<RuntimeApi> {
    const api = new RuntimeApi();
    api.initialized.catch(() => {});
    api.address = `127.0.0.1:${await listen(api.#server)}`;
    return api;
  }

  /** @returns the response when it starts @throws an Error when the invocation fails, or the function reports one */
  invoke(event: unknown): Promise<FunctionResponse> {
    const invocation = { id: randomUUID(), event, ...Promise.withResolvers<FunctionResponse>() };
    this.#invocations.set(invocation.id, invocation);
    this.#queue.push(invocation);
    this.#dispatch();
    return invocation.promise;
  }

  /** Tells everyone who waits for the instance that it is gone. */
  fail(error: Error): void {
    this.#init.reject(error);
    for (const { reject } of this.#invocations.values()) reject(error);
  }

  /** Stops serving. The instance has to be stopped too. */
  close(): Promise<void> {
    return close(this.#server);
  }

  #dispatch(): void {
    const invocation = this.#waiting && this.#queue.shift();
    if (!this.#waiting || !invocation) return;
    this.#waiting.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': invocation.id,
      'Lambda-Runtime-Deadline-Ms': String(Date.now() + timeoutMs),
      'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:us-east-1:000000000000:function:test',
      'Lambda-Runtime-Trace-Id': 'Root=1-00000000-000000000000000000000000;Sampled=0',
    });
    this.#waiting.end(JSON.stringify(invocation.event));
    this.#waiting = undefined;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, phase, id = '', outcome] = /\/runtime\/(\w+)\/([^/]+)(?:\/(\w+))?$/.exec(request.url ?? '') ?? [];
    if (id === 'next') {
      this.#waiting = response;
      this.#init.resolve();
      this.#dispatch();
      return;
    }
    const invocation = this.#invocations.get(id);
    this.#invocations.delete(id);
    if (phase === 'init') {
      this.#init.reject(new Error(JSON.stringify(await json(request))));
    } else if (outcome === 'error') {
      invocation?.reject(new Error(`the function failed: ${await text(request)}`));
    } else if (request.headers['lambda-runtime-function-response-mode'] === 'streaming') {
      invocation?.resolve(readStream(request));
      await once(request, 'close');
    } else {
      const payload = await buffer(request);
      if (payload.length > maxPayloadBytes) {
        const errorType = 'Function.ResponseSizeTooLarge';
        invocation?.reject(new Error(`the function failed: ${errorType}`));
        response.writeHead(413).end(JSON.stringify({ errorType }));
        return;
      }
      const { body, isBase64Encoded, ...head } = JSON.parse(payload.toString());
      const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
      invocation?.resolve({ ...head, body: Readable.from([bytes]) });
    }
    response.writeHead(202).end();
  }
}

/** Between the metadata and the body of a stream ("Set up a Lambda proxy integration with payload response streaming"). */
const delimiter = Buffer.alloc(8);

/** Reads the metadata of a streamed response. */
async function readStream(stream: IncomingMessage): Promise<FunctionResponse> {
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  let received = Buffer.alloc(0);
  while (!received.includes(delimiter)) {
    const { done, value } = await chunks.next();
    if (done) throw new Error('the stream ended before its metadata did');
    received = Buffer.concat([received, value]);
  }
  const end = received.indexOf(delimiter);
  const readBody = async function* () {
    yield received.subarray(end + delimiter.length);
    yield* { [Symbol.asyncIterator]: () => chunks };
    const failure = stream.trailers['lambda-runtime-function-error-type'];
    if (failure) throw new Error(`the function failed while it streamed: ${failure}`);
  };
  return { ...JSON.parse(received.subarray(0, end).toString('utf8')), body: readBody() };
}
