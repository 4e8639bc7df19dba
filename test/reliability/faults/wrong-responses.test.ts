import { describe, expect, test } from 'vitest';
import type { WrongResponse } from '../../simulators/faulty-proxy.ts';
import { emma } from '../../support/book-table.ts';
import { startFaultyService } from './faulty-service.ts';
import { runRound, withoutStorage } from './round.ts';

const bodies: Readonly<Record<string, WrongResponse['bodyOf']>> = {
  nothing: () => Buffer.from(''),
  'half of the body': (body) => body.subarray(0, body.length / 2),
  null: () => Buffer.from('null'),
  '[]': () => Buffer.from('[]'),
  '{}': () => Buffer.from('{}'),
  '{"Item":{}}': () => Buffer.from('{"Item":{}}'),
  '{"Attributes":{}}': () => Buffer.from('{"Attributes":{}}'),
};

/** Bodies that mean "no such item" from an engine without checksums. */
const saysNoItem = ['{}', '{"Attributes":{}}'];

/** Bodies that are not a response, whatever their checksum says. */
const notJsonObjects = ['nothing', 'half of the body', 'null', '[]'];

function absent(name: string): WrongResponse {
  return { bodyOf: bodies[name] as WrongResponse['bodyOf'], checksum: 'absent' };
}

const names = Object.keys(bodies);
const cases = [
  ...names.flatMap((name) => (['absent', 'wrong'] as const).map((checksum) => ({ name, checksum }))),
  ...notJsonObjects.map((name) => ({ name, checksum: 'right' as const })),
];

describe.each(cases)('HTTP 200 with $name and the checksum $checksum', ({ name, checksum }) => {
  const fault = { ...absent(name), checksum };

  test.each([1, 2])('at %i of the three attempts: no client notices', async (attempts) => {
    const service = await startFaultyService();
    await runRound(service, {}, () => service.proxy.disturb({ fault, attempts }));
  });

  test('at every attempt: 503 for all that cannot be known', async () => {
    const service = await startFaultyService();
    const succeed = (request: string) => withoutStorage.includes(request);
    await runRound(service, { succeed, failedWritesMayStay: true }, () => service.proxy.disturb({ fault }));
  });
});

test.each(names)('an engine without checksums that sends %s makes nothing up', async (name) => {
  const service = await startFaultyService({ withoutChecksums: true });
  const failure = expect.objectContaining({
    status: expect.toBeOneOf(saysNoItem.includes(name) ? [404, 500, 503] : [500, 503]),
    envelope: expect.objectContaining({ data: null }),
  });
  const succeed = (request: string) => withoutStorage.includes(request);
  await runRound(service, { succeed, failure, failedWritesMayStay: true }, () =>
    service.proxy.disturb({ fault: absent(name) }),
  );
});

describe('a response of the counter alone', () => {
  test.each(names)('that is %s makes no list shorter', async (name) => {
    const service = await startFaultyService();
    const { table, proxy, ask } = service;
    await table.repository.create(emma);
    const fault = absent(name);
    proxy.disturb({ fault, operations: ['GetItem'] });

    expect((await ask('GET', '/books')).status).toBe(503);

    proxy.disturb({ fault, operations: ['GetItem'], attempts: 2 });
    const { status, envelope } = await ask('GET', '/books');
    expect(status).toBe(200);
    expect(envelope.data).toEqual([{ id: 1, ...emma }]);
  });
});
