import { describe, expect, test } from 'vitest';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdTakenError,
  StorageUnavailableError,
} from '../../../lib/books/errors.ts';
import { outcomeOf } from '../../../lib/error-outcome.ts';
import { HttpError, type Outcome, outcomes } from '../../../lib/http/outcomes.ts';

const cases: [name: string, error: unknown, outcome: Outcome][] = [
  ['an HttpError', new HttpError(outcomes.invalidToken), outcomes.invalidToken],
  ['a missing book', new BookNotFoundError(), outcomes.bookNotFound],
  ['a book that is too large', new BookTooLargeError(), outcomes.payloadTooLarge],
  ['an unavailable storage', new StorageUnavailableError('x'), outcomes.serviceUnavailable],
  ['an id that is taken', new IdTakenError(1), outcomes.internalError],
  ['an unforeseen error', new TypeError('x is not a function'), outcomes.internalError],
  [
    'an error that calls itself an HttpError',
    { name: 'HttpError', outcome: outcomes.bookCreated },
    outcomes.internalError,
  ],
  [
    'an error with a status of its own',
    Object.assign(new Error(), { statusCode: 418, status: 418 }),
    outcomes.internalError,
  ],
  ['a thrown string', 'x', outcomes.internalError],
  ['a thrown undefined', undefined, outcomes.internalError],
];

describe('outcomeOf', () => {
  test.each(cases)('%s gives its outcome', (_name, error, outcome) => {
    expect(outcomeOf(error)).toBe(outcome);
  });
});
