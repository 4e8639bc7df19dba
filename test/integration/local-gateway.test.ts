import { once } from 'node:events';
import type { Context } from 'aws-lambda';
import { expect, onTestFinished, test } from 'vitest';
import type { LoadedFunction } from '../../serverless/local/functions/function-loader.ts';
import { createGateway } from '../../serverless/local/gateway/gateway.ts';
import { close, listen } from '../support/loopback-server.ts';
import { exchangeRaw, openRaw } from '../support/raw-http.ts';

/** Starts the gateway with a function for one method and all paths of one segment. @returns its port */
async function startStubGateway(method: string, handler: LoadedFunction['handler']): Promise<number> {
  const functions = [{ name: 'stub', timeoutMs: 10_000, events: [{ method, path: '/{name}' }], handler }];
  const log = { logRequest() {}, logWarning() {}, logError() {} };
  const gateway = createGateway({ functions: () => functions, host: 'localhost', corsOrigin: undefined, log });
  onTestFinished(() => close(gateway));
  return listen(gateway);
}

const requestOf = (line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

test('a function gets the parameters of a path decoded, and the time that it has left', async () => {
  const port = await startStubGateway('GET', async ({ path, pathParameters }, context) => ({
    statusCode: 200,
    body: JSON.stringify([path, pathParameters, (context as Context).getRemainingTimeInMillis()]),
  }));

  const response = await exchangeRaw(port, requestOf('GET /caf%c3%a9', 'Connection: close'));

  const [path, parameters, remainingMs] = JSON.parse(response?.body ?? '');
  expect([path, parameters]).toEqual(['/caf%c3%a9', { name: 'café' }]);
  expect(remainingMs).toBeGreaterThan(0);
  expect(remainingMs).toBeLessThanOrEqual(10_000);
});

// A cache would take a length for that of the whole response.
test('a 304 has no length', async () => {
  const port = await startStubGateway('GET', async () => ({ statusCode: 304, body: '' }));

  const response = await exchangeRaw(port, requestOf('GET /book', 'Connection: close'));

  expect(response?.status).toBe(304);
  expect(response?.headers.has('content-length')).toBe(false);
});

const megabyte = 1024 * 1024;

test.each([
  ['POST /book', 10, 200],
  ['POST /book', 11, 413],
  ['POST /no/book', 5, 404],
  ['POST /%zz', 5, 400],
])(
  'a client that sends a body to %s, %i MB and "Connection: close" gets a %i after its last byte',
  async (line, size, status) => {
    const port = await startStubGateway('POST', async () => ({ statusCode: 200, body: '' }));
    const socket = await openRaw(port, requestOf(line, 'Connection: close', `Content-Length: ${size * megabyte}`));
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    const responses: Buffer[] = [];
    socket.on('data', (chunk) => responses.push(chunk));

    const sent = new Promise((resolve) => socket.write(Buffer.alloc(size * megabyte), resolve));
    await Promise.all([sent, once(socket, 'close')]);

    expect(errors).toEqual([]);
    expect(Buffer.concat(responses).toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  },
);
