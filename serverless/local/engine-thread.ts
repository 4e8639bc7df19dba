import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { ClassicLevel } from 'classic-level';
import { refuseWithoutData, requireData } from './deleted-folder.ts';
import { createEngine } from './dynamodb-engine.ts';

export interface EngineThreadData {
  readonly folder: string;
  /** Loopback port to listen on; 0 for a free one. */
  readonly port: number;
}

// dynalite closes an iterator by `return`, which abstract-level's lack: each page of a list would stay in memory.
const { values } = ClassicLevel.prototype;
ClassicLevel.prototype.values = function valuesToReturn(this: ClassicLevel, options: object) {
  const iterator = values.call(this, options);
  return Object.assign(iterator, { return: () => iterator.close() });
} as unknown as typeof values;

// One item is read in less time than it takes to hand the read to another thread.
Object.assign(ClassicLevel.prototype, {
  async _get(this: { _getSync(...args: unknown[]): unknown }, ...args: unknown[]) {
    return this._getSync(...args);
  },
});

const { folder, port } = workerData as EngineThreadData;

// A second start, after a failure.
if (port !== 0) requireData(folder);
// dynalite reports a folder that it cannot open only at its first operation.
const store = new ClassicLevel(folder);
try {
  await store.open();
} catch (error) {
  throw (error as Error).cause ?? error;
} finally {
  await store.close();
}

const server = createEngine(folder).listen(port, '127.0.0.1');
refuseWithoutData(server, folder);
await once(server, 'listening');
parentPort?.postMessage((server.address() as AddressInfo).port);
