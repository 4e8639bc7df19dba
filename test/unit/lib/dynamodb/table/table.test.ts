import { expect, test, vi } from 'vitest';
import { StorageUnavailableError } from '../../../../../lib/dynamodb/connection/errors.ts';
import { bookKey } from '../../../../../lib/dynamodb/table/keys.ts';
import { Table } from '../../../../../lib/dynamodb/table/table.ts';
import { openBySending } from '../../../../support/table-by-request.ts';

const bug = new TypeError('Cannot read properties of undefined');

/** A table whose requests are carried out by `send`. */
const openWith = (send: (command: object, options: object) => Promise<object>) =>
  new Table(openBySending(send).client, 'books');

const fail = () => {
  throw bug;
};

test('a TypeError of the SDK is a response that it cannot read, and another attempt is made', async () => {
  const send = vi.fn(async () => fail());

  const reading = openWith(send).get(bookKey(1), (item) => item);

  await expect(reading).rejects.toThrow(StorageUnavailableError);
  expect(send).toHaveBeenCalledTimes(3);
});

test('a TypeError of our own code is a bug, and no other attempt is made', async () => {
  const send = vi.fn(async () => ({ Item: bookKey(1), Attributes: {} }));
  const table = openWith(send);
  const update = (makeInput: () => object) =>
    table.write(async (abortSignal) => table.update(makeInput() as never, fail, abortSignal));

  await expect(table.get(bookKey(1), fail)).rejects.toBe(bug);
  await expect(update(() => ({ Key: bookKey(1) }))).rejects.toBe(bug);
  await expect(update(fail)).rejects.toBe(bug);
  expect(send).toHaveBeenCalledTimes(2);
});

test('a response without the number of items does not make the table empty', async () => {
  await expect(openWith(async () => ({})).isEmpty()).rejects.toThrow('the response has no count');
});

test('each request can be aborted', async () => {
  const send = vi.fn(async (_command: object, _options: object) => ({ Count: 0 }));
  const table = openWith(send);
  const { signal: abortSignal } = new AbortController();

  await table.get(bookKey(1), () => 1);
  await table.query({}, () => 1);
  await table.isEmpty();
  await table.put({ Item: {} }, abortSignal);
  await table.putAll([], abortSignal);
  await table.update({ Key: {} }, () => 1, abortSignal);

  const signals = Array(6).fill({ abortSignal: expect.any(AbortSignal) });
  expect(send.mock.calls.map(([, options]) => options)).toEqual(signals);
});
