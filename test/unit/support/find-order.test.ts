import { expect, test } from 'vitest';
import { findOrder } from '../../reliability/find-order.ts';

/** A register: a write of a value, or a read that gave it. */
interface Operation {
  readonly type: 'write' | 'read';
  readonly value: number;
  readonly invoked: number;
  readonly returned: number;
}

const write = (value: number, invoked: number, returned: number): Operation => ({
  type: 'write',
  value,
  invoked,
  returned,
});
const read = (value: number, invoked: number, returned: number): Operation => ({
  ...write(value, invoked, returned),
  type: 'read',
});

const explain = (...operations: Operation[]) =>
  findOrder<number, Operation>(
    0,
    operations,
    (state, { type, value }) => (type === 'write' || state === value ? value : undefined),
    String,
  );

test('operations one after the other are explained by their own order', () => {
  const history = [read(0, 1, 2), write(1, 3, 4), read(1, 5, 6)];

  expect(explain(...history)).toEqual(history);
});

test('a read during a write may see the value before or after it', () => {
  expect(explain(write(1, 1, 9), read(0, 2, 3))).toBeDefined();
  expect(explain(write(1, 1, 9), read(1, 2, 3))).toBeDefined();
});

test('a read after a write that sees the value before it is a lost write', () => {
  expect(explain(write(1, 1, 2), read(0, 3, 4))).toBeUndefined();
});

test('a value that nobody wrote is a phantom', () => {
  expect(explain(write(1, 1, 9), read(2, 2, 3))).toBeUndefined();
});

test('two reads during a write cannot see it come and go', () => {
  expect(explain(write(1, 1, 9), read(1, 2, 3), read(0, 4, 5))).toBeUndefined();
});

test('two clients cannot see two writes in different orders', () => {
  const writes = [write(1, 1, 9), write(2, 1, 9)];

  expect(explain(...writes, read(1, 2, 3), read(2, 4, 5))).toBeDefined();
  expect(explain(...writes, read(1, 2, 3), read(2, 4, 5), read(1, 6, 7))).toBeUndefined();
});

test('a write without a response may have happened at any later time, or never', () => {
  const noResponse = write(1, 1, Number.POSITIVE_INFINITY);

  expect(explain(noResponse, read(0, 2, 3))).toEqual([read(0, 2, 3)]);
  expect(explain(noResponse, read(0, 2, 3), read(1, 4, 5))).toBeDefined();
  expect(explain(noResponse, read(1, 2, 3), read(0, 4, 5))).toBeUndefined();
});

test('a write without a response cannot have happened before it was sent', () => {
  expect(explain(read(1, 1, 2), write(1, 3, Number.POSITIVE_INFINITY))).toBeUndefined();
});

test('the operations are looked through in reasonable time when many run at once', () => {
  const history = Array.from({ length: 12 }, (_, index) => write(index, 1, 100));

  expect(explain(...history, read(99, 101, 102))).toBeUndefined();
});
