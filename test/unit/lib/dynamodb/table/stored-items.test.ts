import { expect, test } from 'vitest';
import { parseBook, parseInteger, parseText, storedKinds } from '../../../../../lib/dynamodb/table/stored-items.ts';
import type { Kind } from '../../../../../lib/fields.ts';
import { aBook } from '../../../../support/a-book.ts';

/** What may follow the name of a field, by its kind. A value may be of several kinds. */
const startsOf: Readonly<Record<Kind, readonly string[]>> = {
  string: ['""', '"7"'],
  integer: ['7,', '-7,', '1234 ,', '999999999999999\n}'],
  boolean: ['true', 'false'],
};

test('the start of a value in JSON tells its kind', () => {
  const values = [...Object.values(startsOf).flat(), ...['null', '[', '{', '1.5}', '1e3,']];

  for (const [kind, starts] of Object.entries(startsOf)) {
    const pattern = new RegExp(`^${storedKinds[kind as Kind].json.source}`);
    const matching = values.filter((value) => pattern.test(value));
    expect(matching, kind).toEqual(values.filter((value) => starts.includes(value)));
  }
});

test.each([
  ['a book has no id', () => parseBook(aBook() as never)],
  ['not five', () => parseInteger(4, 'not five', 5)],
  ['not a text', () => parseText(7, 'not a text')],
])('an item is damaged when %s, and its response may have been damaged on the way', (problem, parse) => {
  const error = { name: 'AttemptError', message: `a stored item is damaged: ${problem}`, mayBeDone: true };
  expect(parse).toThrow(expect.objectContaining(error));
});

test('an integer may be at its minimum', () => {
  expect(parseInteger(5, '', 5)).toBe(5);
});
