import { expect, test } from 'vitest';
import { StorageUnavailableError } from '../../../../lib/books/errors.ts';
import { translateDynamoDBError } from '../../../../lib/dynamodb/errors.ts';

const named = (name: string, message: string) => Object.assign(new Error(message), { name });

test('a ValidationException comes back as it is', () => {
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
