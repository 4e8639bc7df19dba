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

const { folder, port } = workerData as EngineThreadData;

// A second start, after a failure.
if (port !== 0) requireData(folder);
const server = (await createEngine(folder)).listen(port, '127.0.0.1');
refuseWithoutData(server, folder);
await once(server, 'listening');
parentPort?.postMessage((server.address() as AddressInfo).port);
