import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import pLimit from 'p-limit';
import { type EngineResponse, openStore } from './dynalite-additions.ts';
import { carryOut } from './engine-operations.ts';

interface EngineOptions {
  readonly accessKeyId: string;
  readonly path?: string | undefined;
  readonly onFailure: (error: Error) => void;
}

const refusal: EngineResponse = {
  status: 400,
  body: {
    __type: 'com.amazon.coral.service#UnrecognizedClientException',
    message: 'The security token included in the request is invalid.',
  },
};

/**
 * Makes a DynamoDB engine behind an HTTP server that does not listen yet: dynalite's operations, with transactions. It
 * refuses requests that do not name its access key.
 *
 * After an error of the store, it breaks all connections: the disk is full, a file is damaged, or the folder is gone. A
 * write that may be incomplete is therefore never acknowledged.
 *
 * @param options.path - the folder of its data; without it, the data is in memory
 * @param options.onFailure - gets the error of the store
 * @throws when the folder cannot be opened
 */
export async function createEngine({ accessKeyId, path, onFailure }: EngineOptions) {
  const store = await openStore(path);
  const confirmFolder = path === undefined ? () => {} : watchFolder(path);
  // It keeps everybody else out: a page cannot send `Authorization` without a preflight, which is refused, and no other
  // user can read what is sent on loopback. So the signature itself is not verified.
  const credential = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/`;
  // One request at a time. At once, all of them would end as late as the last one, and clients would give up all of them.
  const inTurn = pLimit(1);
  let failed = false;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const target = String(request.headers['x-amz-target']);
    const result = await carryOut(store, target, body);
    confirmFolder();
    const closed = new Promise((resolve) => response.once('close', resolve));
    if (response.destroyed) return;
    send(response, result);
    await closed;
  }

  const server = createServer((request, response) => {
    // Nobody without the key makes the engine wait for a body.
    if (!request.headers.authorization?.startsWith(credential))
      return send(response.setHeader('Connection', 'close'), refusal);
    inTurn(() => respond(request, response)).catch((error) => {
      failed = true;
      onFailure(error);
      server.closeAllConnections();
    });
  });
  // It keeps listening. Otherwise another process could take its port and receive the requests of the service.
  server.on('connection', (socket) => {
    if (failed) socket.destroy();
  });
  return { server, closeStore: () => store.db.close() };
}

/**
 * Makes the check that a folder is still there. Once it is deleted or moved, the engine would acknowledge books that only
 * its open files have. The engine never replaces the file LOCK, so another inode, or none, means that the folder is gone.
 */
function watchFolder(path: string) {
  const readLockInode = () => statSync(join(path, 'LOCK'), { throwIfNoEntry: false })?.ino;
  const inode = readLockInode();
  return () => {
    if (readLockInode() !== inode) throw new Error('it was deleted or moved while the service ran');
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
