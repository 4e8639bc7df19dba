import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { namedError } from '../../../lib/named-error.ts';

test('an error is printed with its name, whatever a minifier calls its class', () => {
  const error = new (class Bc extends namedError('ConfigError') {})('SECRET_TOKEN is not set');

  // Lambda's runtime prints the name of the class.
  expect([error.name, error.constructor.name]).toEqual(['ConfigError', 'ConfigError']);
  expect(inspect(error)).toMatch(/^ConfigError: SECRET_TOKEN is not set\n/);
});
