import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requestIgnored } from '../../simulators/faults.ts';
import { startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { startScriptedDatabase } from '../../simulators/scripted-database.ts';
import { startFaultyService } from './faulty-service.ts';
import { runRound } from './round.ts';

test('the proxy counts the slow exchanges without a fault, and connections that are slow to bring a request', async () => {
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const { endpoint } = await startScriptedDatabase(() => {});
  const proxy = await startFaultyProxy(endpoint);
  onTestFinished(() => proxy.stop());
  const countConnections = (count: number) =>
    expect.poll(() => proxy.countConnections(), { timeout: 30_000 }).toBe(count);
  const giveUpAfter = async (milliseconds: number, client: Socket, isReceived: () => boolean) => {
    client.on('error', () => {});
    await countConnections(1);
    await expect.poll(isReceived, { timeout: 30_000 }).toBe(true);
    nowMs += milliseconds;
    const counted = proxy.countSlow();
    client.destroy();
    await countConnections(0);
    expect(proxy.countSlow()).toBe(counted);
    return counted;
  };
  const connectClient = () => connect(Number(new URL(proxy.endpoint).port), '127.0.0.1');
  const send = (milliseconds: number) => {
    const requests = proxy.countRequests('GetItem') + 1;
    const client = connectClient();
    client.write(
      'POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\nContent-Length: 2\r\n\r\n{}',
    );
    return giveUpAfter(milliseconds, client, () => proxy.countRequests('GetItem') === requests);
  };

  expect(await send(900)).toBe(0);
  expect(await send(1_100)).toBe(1);
  expect(await giveUpAfter(1_100, connectClient(), () => true)).toBe(2);
  proxy.disturb({ fault: requestIgnored });
  expect(await send(1_100)).toBe(2);
});

test('failures in a round with slow exchanges are no finding', async () => {
  const service = await startFaultyService();
  const expectations = { names: ['GET /book/{id}'], fail: () => true };
  await expect(runRound(service, expectations)).rejects.toThrow('GET /book/{id}: expected');

  vi.spyOn(service.proxy, 'countSlow').mockReturnValueOnce(0).mockReturnValue(1);

  await runRound(service, expectations);
});
