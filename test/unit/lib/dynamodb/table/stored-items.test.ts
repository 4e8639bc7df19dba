import { expect, test } from 'vitest';
import { parseInteger, parseText } from '../../../../../lib/dynamodb/table/stored-items.ts';

test.each([
  ['not five', () => parseInteger(4, 'not five', 5)],
  ['not a text', () => parseText(7, 'not a text')],
])('an item is damaged when %s, and its response may have been damaged on the way', (problem, parse) => {
  const error = { name: 'AttemptError', message: `a stored item is damaged: ${problem}`, mayBeDone: true };
  expect(parse).toThrow(expect.objectContaining(error));
});

test('an integer may be at its minimum', () => {
  expect(parseInteger(5, '', 5)).toBe(5);
});
