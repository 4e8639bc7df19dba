import { isDeepStrictEqual } from 'node:util';

/** Longer values are cut in the middle when they are shown. */
const shownCharacters = 600;

/** The service did something else than it should have. */
export class ExpectationError extends Error {
  override readonly name = 'ExpectationError';
  /** What was looked at. */
  readonly subject: string;
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(subject: string, expected: unknown, actual: unknown) {
    super(`${subject}: expected ${showValue(expected)}, got ${showValue(actual)}`);
    this.subject = subject;
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * Compares two JSON values; key order does not matter.
 *
 * @param subject - what is looked at, for the reader of a failure
 * @param actual - what the service gave
 * @param expected - what it should have given
 * @throws {ExpectationError} when they differ
 */
export function expectEqual(subject: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new ExpectationError(subject, expected, actual);
}

/**
 * Checks a condition that no single value stands for.
 *
 * @param subject - what is looked at, for the reader of a failure
 * @param condition - whether it is as it should be
 * @param expected - what should be, in words
 * @param actual - what is
 * @throws {ExpectationError} when the condition is false
 */
export function expectTrue(subject: string, condition: boolean, expected: string, actual: unknown): void {
  if (!condition) throw new ExpectationError(subject, expected, actual);
}

/**
 * Shows a value on one line, cut in the middle when it is long.
 *
 * @param value - any value; text that is no JSON is shown with its control characters escaped
 */
export function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  if (text.length <= shownCharacters) return text;
  const half = shownCharacters / 2;
  return `${text.slice(0, half)} … ${text.length - shownCharacters} more characters … ${text.slice(-half)}`;
}
