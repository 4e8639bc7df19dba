import { expect, test } from 'vitest';
import { isLoopback } from '../../../../../serverless/local/gateway/allowed-hosts.ts';

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:7f00:1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.0.2.1', false],
  ['::ffff:192.0.2.1', false],
])('whether a server at %s is for this machine alone: %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});
