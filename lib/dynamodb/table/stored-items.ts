import { AttemptError } from '../connection/errors.ts';

export type Item = Readonly<Record<string, unknown>>;

/** Makes placeholders, because some names, such as "year", are reserved words of DynamoDB's expressions. */
export function attributeNames(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`#${name}`, name]));
}

/** @throws {AttemptError} with the problem when a value is not a safe integer, or less than the minimum */
export function parseInteger(value: unknown, problem: string, minimum = Number.MIN_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || Number(value) < minimum) throw damagedItem(problem);
  return value as number;
}

/** @throws {AttemptError} with the problem when a value is not a text */
export function parseText(value: unknown, problem: string): string {
  if (typeof value !== 'string') throw damagedItem(problem);
  return value;
}

/** A response may be damaged on its way, so another attempt is worth it. */
export function damagedItem(problem: string): AttemptError {
  return new AttemptError(`a stored item is damaged: ${problem}`);
}
