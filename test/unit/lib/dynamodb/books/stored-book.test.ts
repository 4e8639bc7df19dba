import { expect, test } from 'vitest';
import { parseBook } from '../../../../../lib/dynamodb/books/stored-book.ts';
import { aBook } from '../../../../support/a-book.ts';

test('an item without an id is damaged, and its response may have been damaged on the way', () => {
  const error = { name: 'AttemptError', message: 'a stored item is damaged: a book has no id', mayBeDone: true };
  expect(() => parseBook(aBook() as never)).toThrow(expect.objectContaining(error));
});
