import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { HttpRequest } from '@smithy/core/protocols';
import { describe, expect, test, vi } from 'vitest';
import { createDynamoDBClient } from '../../lib/dynamodb/connection/client.ts';
import { bookKey } from '../../lib/dynamodb/table/keys.ts';
import { startScriptedDatabase } from '../fakes/scripted-database.ts';
import { connect } from '../support/book-table.ts';

const protocols = ['http', 'https'] as const;

/** Starts a database that responds with `respond`. @returns functions that send it a request for a book, and a deletion */
async function startDatabase(respond: RequestListener, protocol?: (typeof protocols)[number]) {
  const { server: database, endpoint } = await startScriptedDatabase(respond, protocol);
  const client = connect(endpoint);
  const item = { TableName: 'bücher', Key: bookKey(1) };
  return {
    database,
    endpoint,
    read: () => client.send(new GetCommand(item)),
    remove: () => client.send(new DeleteCommand(item)),
  };
}

/** Responds with a body and its checksum, as DynamoDB does. */
function respondWith(response: ServerResponse, body: string, status = 200): void {
  response.writeHead(status, { 'x-amz-crc32': crc32(body) }).end(body);
}

test('a client that is destroyed closes its connections', async () => {
  const closed = vi.fn();
  const { database, endpoint } = await startDatabase((_request, response) => response.end('{}'));
  database.keepAliveTimeout = 0;
  database.on('connection', (socket) => socket.on('close', closed));
  const client = createDynamoDBClient({ endpoint, region: 'us-east-1', tableName: '' });
  await client.send(new ListTablesCommand());

  client.destroy();

  await expect.poll(() => closed.mock.calls.length).toBe(1);
});

describe('an idle connection', () => {
  /** Sends two requests, with a time in between by the wall clock alone. @returns the number of connections */
  async function countConnections(protocol: (typeof protocols)[number], idleMs: number): Promise<number> {
    let connections = 0;
    const { database, read } = await startDatabase((_request, response) => respondWith(response, '{}'), protocol);
    database.on('connection', () => {
      connections += 1;
    });
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
    await read();
    clock.mockReturnValue(now + idleMs);
    await read();
    return connections;
  }

  describe.each(protocols)('over %s', (protocol) => {
    test.each([
      [0, 1],
      [20_000, 1],
      [20_001, 2],
      // A clock that is set back hides how long it was.
      [-1, 2],
    ])('is used again within 20 s of the wall clock: after %i ms, there are %i connections', async (idleMs, count) => {
      expect(await countConnections(protocol, idleMs)).toBe(count);
    });
  });

  test.each(protocols)('over %s closes after 20 s, also while others are in use', async (protocol) => {
    const { database, read } = await startDatabase((_request, response) => respondWith(response, '{}'), protocol);
    database.keepAliveTimeout = 0;
    const setTimeout = vi.spyOn(Socket.prototype, 'setTimeout');
    await read();
    const sockets = setTimeout.mock.contexts as readonly Socket[];
    const idle = sockets.find(({ timeout }) => timeout === 20_000);

    idle?.emit('timeout');

    expect(idle?.destroyed).toBe(true);
  });

  test('is not used after a failure on another one', async () => {
    const responses: ServerResponse[] = [];
    const { database, read } = await startDatabase((_request, response) => responses.push(response));
    const connected = vi.fn();
    database.on('connection', connected);
    const sent = (count: number) => expect.poll(() => responses.length).toBe(count);
    const reads = [read(), read()];
    await sent(2);
    for (const response of responses) response.end('{}');
    await Promise.all(reads);

    const failing = read();
    await sent(3);
    responses[2]?.destroy();
    await expect(failing).rejects.toThrow();
    const next = read();
    await sent(4);
    responses[3]?.end('{}');
    await next;

    expect(connected).toHaveBeenCalledTimes(3);
  });
});

const damaged = (problem: string) => ({ name: 'AttemptError', mayBeDone: true, message: `the response ${problem}` });

test.each([30, 4_096, 4_097, 100_000])('a checksum is compared with a body of %i bytes', async (bytes) => {
  const body = `{"Item":{"a":{"S":"${'x'.repeat(bytes - 23)}"}}}`;
  let checksum = crc32(body);
  const { read } = await startDatabase((_request, response) =>
    response.writeHead(200, { 'x-amz-crc32': checksum }).end(body),
  );
  const loaded = vi.spyOn(process, 'getBuiltinModule');

  await expect(read()).resolves.toBeDefined();
  // To load it for a short body would delay the first response of an instance.
  expect(loaded.mock.calls.flat().includes('node:zlib')).toBe(bytes > 4_096);
  checksum += 1;
  await expect(read()).rejects.toMatchObject(damaged('does not match its checksum'));
});

test('a refusal that does not match its checksum is damaged: its item tells what became of a write', async () => {
  const body = '{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Item":{"id":{"N":"1"}}}';
  const { remove } = await startDatabase((_request, response) => {
    response.writeHead(400, { 'x-amz-crc32': crc32(body) + 1 }).end(body);
  });

  await expect(remove()).rejects.toMatchObject(damaged('does not match its checksum'));
});

test.each(protocols)(
  'over %s, a response without a checksum counts, be it a success or a refusal',
  async (protocol) => {
    let response = { status: 200, body: '{}' };
    const { remove } = await startDatabase((_request, outgoing) => {
      outgoing.writeHead(response.status).end(response.body);
    }, protocol);

    await expect(remove()).resolves.toBeDefined();
    const name = 'ConditionalCheckFailedException';
    response = { status: 400, body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}` }) };
    await expect(remove()).rejects.toMatchObject({ name });
  },
);

test.each([300, 500])('a response of status %i needs no JSON', async (status) => {
  const { read } = await startDatabase((_request, response) => response.writeHead(status).end('Sorry'));

  await expect(read()).rejects.toMatchObject({ $metadata: { httpStatusCode: status } });
});

test.each(['', 'null', '[]', '"{}"'])('a success whose body is %j is damaged', async (body) => {
  const { read, remove } = await startDatabase((_request, response) => respondWith(response, body));

  await expect(read()).rejects.toMatchObject(damaged('is not a JSON object'));
  await expect(remove()).rejects.toMatchObject(damaged('is not a JSON object'));
});

test.each(['{"Attributes":{"id":{"N":"1"}}}', '{"Count":0,"Items":[],"LastEvaluatedKey":{}}', '{"a": {"Item":{}}}'])(
  'the success %s of another operation does not mean that there is no book',
  async (body) => {
    const { read, remove } = await startDatabase((_request, response) => respondWith(response, body));

    await expect(read()).rejects.toMatchObject(damaged('is not of GetItem'));
    await expect(remove()).resolves.toBeDefined();
  },
);

test.each(['{}', '{\n}', '{"Item":{}}', '{ "Item": {} }', '{"ConsumedCapacity":{"CapacityUnits":1}}'])(
  'the body %j is that of a GetItem',
  async (body) => {
    const { read } = await startDatabase((_request, response) => respondWith(response, body));

    await expect(read()).resolves.toBeDefined();
  },
);

describe('a request that was never sent', () => {
  const read = (endpoint: string) => {
    const client = connect(endpoint);
    return client.send(new GetCommand({ TableName: 'books', Key: bookKey(1) }));
  };

  test('a host name that does not exist, or a port at which nobody listens, sent none', async () => {
    for (const endpoint of ['http://nobody.invalid:8000', 'http://127.0.0.1:1']) {
      await expect(read(endpoint)).rejects.toMatchObject({ name: 'AttemptError', mayBeDone: false });
    }
  });

  test.each(protocols)('an %s connection that is reset after the request may have carried it out', async (protocol) => {
    const connections: Socket[] = [];
    const { database, endpoint } = await startDatabase(() => connections[0]?.resetAndDestroy(), protocol);
    database.on('connection', (socket) => connections.push(socket));

    await expect(read(endpoint)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('signed requests', () => {
  type ReceivedRequest = IncomingMessage & { readonly body: Buffer };

  /** Sends requests to a database whose clock is ahead of ours. */
  async function sendRequests(count: number, clockSkewMs = 0): Promise<readonly ReceivedRequest[]> {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
    const received: ReceivedRequest[] = [];
    const { read } = await startDatabase(async (request, response) => {
      received.push(Object.assign(request, { body: await buffer(request) }));
      response.writeHead(200, { Date: new Date(Date.now() + clockSkewMs).toUTCString() }).end('{}');
    });
    for (let sent = 0; sent < count; sent += 1) await read();
    return received;
  }

  test.each(['a session token/with+signs=', ''])(
    'with the session token %j, every request has the signature of the stock SDK',
    async (sessionToken) => {
      vi.stubEnv('AWS_SESSION_TOKEN', sessionToken);

      const received = await sendRequests(3);

      expect(received).toHaveLength(3);
      for (const request of received) {
        expect(request.headers.authorization).toBe(await authorizationOf(request));
        expect(request.headers['x-amz-security-token'] ?? '').toBe(sessionToken);
        // CloudTrail keeps who asked.
        expect(request.headers['user-agent']).toBe('book-catalog');
      }
    },
  );

  test('a request has no header that DynamoDB does not read, such as those of the retries, versions and traces of the SDK', async () => {
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'getBook');
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5e66d96f-7491f09xmpl79d18acf3d050');

    const [request] = await sendRequests(1);

    const ofHttp = ['connection', 'content-length', 'content-type', 'host', 'user-agent'];
    const ofAws = ['authorization', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-target'];
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual([...ofHttp, ...ofAws].sort());
  });

  test('a clock that is wrong is corrected from the second request on: AWS refuses what is 5 minutes old', async () => {
    const clockSkewMs = 60 * 60 * 1000;
    const [first = 0, second = 0] = (await sendRequests(2, clockSkewMs)).map(({ headers }) => +dateOf(headers));

    expect(second - first).toBeGreaterThan(clockSkewMs - 5_000);
  });

  /** Signs a request again with the stock SDK. */
  async function authorizationOf({ method, headers, body }: ReceivedRequest) {
    const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
    const signed = Object.fromEntries(names.split(';').map((name) => [name, String(headers[name])]));
    expect(Object.keys(signed)).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-target']));
    const signer = await new DynamoDBClient({ region: 'us-east-1' }).config.signer();
    const request = new HttpRequest({ method: String(method), headers: signed, body });
    return (await signer.sign(request, { signingDate: dateOf(headers) })).headers.authorization;
  }

  const dateOf = (headers: IncomingHttpHeaders) =>
    new Date(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
});
