import { expect, test } from 'vitest';
import { BookTooLargeError, StorageUnavailableError } from '../../../../lib/books/errors.ts';
import { translateDynamoDBError } from '../../../../lib/dynamodb/errors.ts';

const named = (name: string, message: string) => Object.assign(new Error(message), { name });

// What DynamoDB says of an item, an update's result and an update's values of more than 400 KB.
test.each([
  'Item size has exceeded the maximum allowed size',
  'Item size to update has exceeded the maximum allowed size',
  'ExpressionAttributeValues exceeded size limit',
  'Invalid UpdateExpression: Expression size has exceeded the maximum allowed size',
])('the ValidationException %j is a book that is too large', (message) => {
  const error = named('ValidationException', message);

  const translated = translateDynamoDBError(error);

  expect(translated).toBeInstanceOf(BookTooLargeError);
  expect(translated).toMatchObject({ cause: error });
});

test('any other ValidationException is our own bug and comes back as it is', () => {
  const error = named('ValidationException', 'The provided key element does not match the schema');

  expect(translateDynamoDBError(error)).toBe(error);
});

test.each([
  'ThrottlingException',
  'InternalServerError',
  'ResourceNotFoundException',
  'AccessDeniedException',
])('a %s is a storage that is unavailable, with the error as its cause', (name) => {
  const error = named(name, 'size exceeded');

  const translated = translateDynamoDBError(error);

  expect(translated).toBeInstanceOf(StorageUnavailableError);
  expect(translated).toMatchObject({ message: `DynamoDB failed: ${name}: size exceeded`, cause: error });
});

test('a response that is not JSON is a storage that is unavailable, and nothing of it is quoted', () => {
  const translated = translateDynamoDBError(named('SyntaxError', '"Emma"... is not valid JSON'));

  expect(translated).toEqual(new StorageUnavailableError('DynamoDB failed: its response is not JSON'));
  expect((translated as Error).cause).toBeUndefined();
});

test.each([undefined, null, 'text', 42])(
  '%j, which is no error, is a storage that is unavailable',
  (thrown) => {
    const translated = translateDynamoDBError(thrown);

    expect(translated).toBeInstanceOf(StorageUnavailableError);
    expect((translated as Error).cause).toBe(thrown);
  },
);
