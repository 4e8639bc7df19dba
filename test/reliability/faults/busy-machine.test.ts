import { request } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requestIgnored } from '../../simulators/faults.ts';
import { startFaultyProxy } from '../../simulators/faulty-proxy.ts';
import { startScriptedDatabase } from '../../simulators/scripted-database.ts';
import { startFaultyService } from './faulty-service.ts';
import { runRound } from './round.ts';

test('the proxy counts the healthy requests that their clients give up, and no others', async () => {
  let received = 0;
  const { endpoint } = await startScriptedDatabase(() => {
    received += 1;
  });
  const proxy = await startFaultyProxy(endpoint);
  onTestFinished(() => proxy.stop());
  const giveUp = async () => {
    const count = proxy.countRequests('GetItem');
    const headers = { 'x-amz-target': 'DynamoDB_20120810.GetItem' };
    const sent = request(proxy.endpoint, { method: 'POST', headers, agent: false }).on('error', () => {});
    sent.end('{}');
    await expect.poll(() => proxy.countRequests('GetItem'), { timeout: 30_000 }).toBe(count + 1);
    return sent;
  };

  const healthy = await giveUp();
  await expect.poll(() => received, { timeout: 30_000 }).toBe(1);
  healthy.destroy();
  await expect.poll(() => proxy.countGivenUp(), { timeout: 30_000 }).toBe(1);
  proxy.disturb({ fault: requestIgnored });
  (await giveUp()).destroy();
  await expect.poll(() => proxy.countConnections(), { timeout: 30_000 }).toBe(0);

  expect(proxy.countGivenUp()).toBe(1);
});

test('failures in a round with such requests are no finding', async () => {
  const service = await startFaultyService();
  const expectations = { names: ['GET /book/{id}'], fail: () => true };
  await expect(runRound(service, expectations)).rejects.toThrow('GET /book/{id}: expected');

  vi.spyOn(service.proxy, 'countGivenUp').mockReturnValueOnce(0).mockReturnValue(1);

  await runRound(service, expectations);
});
