import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import * as token from '../../../lib/auth/errors.ts';
import * as books from '../../../lib/books/errors.ts';
import { ConfigError } from '../../../lib/config.ts';
import * as dynamodb from '../../../lib/dynamodb/connection/errors.ts';
import { HttpError, outcomes } from '../../../lib/http/outcomes.ts';
import { namedError } from '../../../lib/named-error.ts';

test('an error is printed with its name, whatever a minifier calls its class', () => {
  const error = new (class Bc extends namedError('ConfigError') {})('SECRET_TOKEN is not set');

  // Lambda's runtime prints the name of the class.
  expect([error.name, error.constructor.name]).toEqual(['ConfigError', 'ConfigError']);
  expect(inspect(error)).toMatch(/^ConfigError: SECRET_TOKEN is not set\n/);
});

test('each error has the name of its class in the log', () => {
  const named = Object.entries({ ...token, ...books, ...dynamodb }).map(
    ([name, Type]) => [name, new (Type as new () => Error)()] as const,
  );
  for (const [name, error] of [
    ...named,
    ['ConfigError', new ConfigError([])],
    ['HttpError', new HttpError(outcomes.invalidInput)],
  ] as const) {
    expect(error.name).toBe(name);
  }
});
