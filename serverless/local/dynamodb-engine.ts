import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Stream } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import db, { type Store } from 'dynalite/db/index.js';
import pLimit from 'p-limit';
import { carryOut } from './engine-operations.ts';
import { type AccessKey, createSignatureCheck } from './request-signature.ts';
import type { EngineResponse } from './transactions.ts';

interface EngineOptions {
  readonly accessKey: AccessKey;
  readonly path?: string | undefined;
  readonly onFailure: (error: Error) => void;
}

const unsigned: EngineResponse = {
  status: 400,
  body: {
    __type: 'com.amazon.coral.service#UnrecognizedClientException',
    message: 'The security token included in the request is invalid.',
  },
};

/**
 * Makes a DynamoDB engine behind an HTTP server that does not listen yet: dynalite's operations, with transactions. It
 * refuses requests that are not signed with its access key.
 *
 * After an error of the store, it breaks all connections: the disk is full, a file is damaged, or the folder is gone. A
 * write that may be incomplete is therefore never acknowledged.
 *
 * @param options.path - the folder of its data, which is in memory without it
 * @param options.onFailure - gets the error of the store
 * @throws when the folder cannot be opened
 */
export async function createEngine({ accessKey, path, onFailure }: EngineOptions) {
  const store = await openStore(path);
  const confirmFolder = path === undefined ? () => {} : watchFolder(path);
  const { namesKey, isSigned } = createSignatureCheck(accessKey);
  // One request at a time. All at once would take the same time together, and clients would give all of them up.
  const inTurn = pLimit(1);
  let failed = false;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // In this turn of the event loop, connections that clients have closed are noticed.
    await setImmediate();
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined || response.destroyed) return;
    const target = String(request.headers['x-amz-target']);
    const result = (await isSigned(request, body)) ? await carryOut(store, target, body) : unsigned;
    confirmFolder();
    const closed = new Promise((resolve) => response.once('close', resolve));
    if (response.destroyed) return;
    send(response, result);
    await closed;
  }

  const server = createServer((request, response) => {
    // Without the key, nobody makes the engine wait for a body.
    if (!namesKey(request)) return send(response.setHeader('Connection', 'close'), unsigned);
    inTurn(() => respond(request, response)).catch((error) => {
      failed = true;
      onFailure(error);
      server.closeAllConnections();
    });
  });
  // It goes on to listen, because another process could take its port and receive the requests of the service.
  server.on('connection', (socket) => {
    if (failed) socket.destroy();
  });
  return { server, closeStore: () => store.db.close() };
}

async function openStore(path: string | undefined): Promise<Store> {
  const store = db.create({ createTableMs: 0, ...(path !== undefined && { path }) });
  // dynalite would report an error at the first operation only.
  await store.db.open().catch((error) => {
    throw error.cause ?? error;
  });
  // Reads are synchronous: another thread, which dynalite would use, takes ten times as long as the read.
  store.db.get = (key, done) => {
    let value: unknown;
    try {
      value = store.db.getSync(key);
    } catch (error) {
      return done(error as Error);
    }
    done(null, value);
  };
  store.db.createValueStream = (range) => readAll(store.db.values(range));
  // There is one request at a time, and an error in an operation of dynalite would leave its locks for ever.
  const lock: Store['tableDb']['lock'] = (_keys, run) => run((done) => done);
  store.tableDb.lock = lock;
  const { getItemDb } = store;
  store.getItemDb = (name) => Object.assign(getItemDb(name), { lock });
  return store;
}

/**
 * Makes a stream as dynalite reads it. An error in a listener becomes one of the stream, which ends the operation, and the
 * iterator is always closed. dynalite's own streams do neither: such an error would end the process, and each page of a
 * list would stay in memory.
 */
function readAll(values: AsyncIterable<unknown>): Stream & { destroy(): void } {
  let isRead = true;
  const stream = Object.assign(new Stream(), {
    destroy() {
      isRead = false;
    },
  });
  const emitAll = async () => {
    for await (const value of values) {
      stream.emit('data', value);
      if (!isRead) return;
    }
    stream.emit('end');
  };
  emitAll().catch((error) => stream.emit('error', error));
  return stream;
}

/**
 * Makes the check that a folder is still there. After it is deleted or moved, the engine would acknowledge books that are
 * in its open files only. It never replaces the file LOCK, so another inode, or none, means that the folder is gone.
 */
function watchFolder(path: string) {
  const readLockInode = () => statSync(join(path, 'LOCK'), { throwIfNoEntry: false })?.ino;
  const inode = readLockInode();
  return () => {
    if (readLockInode() !== inode) throw new Error('The data is gone');
  };
}

function send(response: ServerResponse, { status, body }: EngineResponse): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'x-amzn-RequestId': randomUUID(),
    'x-amz-crc32': crc32(text),
    'Content-Type': 'application/x-amz-json-1.0',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
