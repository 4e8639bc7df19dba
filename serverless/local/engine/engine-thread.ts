import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { createEngine } from './engine-server.ts';

const { server } = await createEngine({ ...workerData, onFailure: (error) => parentPort?.postMessage(error) });
server.listen(0, '127.0.0.1');
await once(server, 'listening');
parentPort?.postMessage((server.address() as AddressInfo).port);
