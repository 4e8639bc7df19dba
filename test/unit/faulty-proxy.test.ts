import { createServer, request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../tools/runtime/loopback-server.ts';
import { startFaultyProxy } from '../simulators/faulty-proxy.ts';
import { loopbackCertificate } from '../simulators/loopback-certificate.ts';

/** Starts an engine that counts its requests, with a proxy before it that holds them. */
async function startHoldingProxy(isTls: boolean) {
  let requests = 0;
  const engine = createServer((_incoming, outgoing) => {
    requests += 1;
    outgoing.end('{}');
  });
  const proxy = await startFaultyProxy(`http://127.0.0.1:${await listen(engine)}`, { isTls });
  onTestFinished(async () => {
    await proxy.stop();
    engine.close();
  });
  proxy.disturb({ fault: 'request held' });
  return { proxy, countRequests: () => requests };
}

test.each([
  ['HTTP', 'closed', 1],
  ['HTTP', 'reset', 0],
  ['HTTPS', 'closed', 1],
  ['HTTPS', 'reset', 0],
] as const)('a held %s request whose connection is %s is delivered %i times', async (scheme, end, times) => {
  const isTls = scheme === 'HTTPS';
  const { proxy, countRequests } = await startHoldingProxy(isTls);
  const tcp = connect(Number(new URL(proxy.endpoint).port), '127.0.0.1');
  // With TLS 1.3, tickets that the client has not read yet would make a reset of what should be a normal close.
  const tls = {
    socket: tcp,
    ca: loopbackCertificate.cert,
    host: '127.0.0.1',
    maxVersion: 'TLSv1.2',
  } as const;
  const socket = isTls ? tlsConnect(tls) : tcp;
  const sent = (isTls ? tlsRequest : request)(proxy.endpoint, {
    method: 'POST',
    headers: { 'X-Amz-Target': 'DynamoDB.PutItem' },
    createConnection: () => socket,
  });
  sent.on('error', () => {}).end('{}');
  await expect.poll(() => proxy.countRequests('PutItem')).toBe(1);

  if (end === 'reset') tcp.resetAndDestroy();
  else socket.destroy();

  expect(await proxy.deliverHeld()).toBe(times);
  expect(countRequests()).toBe(times);
});
