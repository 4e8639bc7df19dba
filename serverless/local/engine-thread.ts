import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { ClassicLevel } from 'classic-level';
import { createEngine } from './dynamodb-engine.ts';

// dynalite closes an iterator by `return`, which abstract-level's lack. Without it, each page of a list stays in
// memory.
const { values } = ClassicLevel.prototype;
ClassicLevel.prototype.values = function valuesToReturn(this: ClassicLevel, options: object) {
  const iterator = values.call(this, options);
  return Object.assign(iterator, { return: () => iterator.close() });
} as unknown as typeof values;

const folder: string = workerData;
const server = await createEngine(folder);

// After the folder is deleted or moved, the engine would acknowledge books that are in its open files only. It never
// replaces the file LOCK, so another inode, or none, means that the folder is gone.
const readLockInode = () => statSync(join(folder, 'LOCK'), { throwIfNoEntry: false })?.ino;
const lockInode = readLockInode();
server.prependListener('request', (_request, response) => {
  const end = response.end.bind(response) as () => typeof response;
  response.end = (...args: []) => {
    if (readLockInode() !== lockInode) throw new Error('The data is gone');
    return end(...args);
  };
});

server.listen(0, '127.0.0.1');
await once(server, 'listening');
parentPort?.postMessage((server.address() as AddressInfo).port);
