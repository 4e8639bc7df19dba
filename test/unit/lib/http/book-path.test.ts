import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { locationHeader, readBookId, readCollectionPath } from '../../../../lib/http/book-path.ts';
import { createEvent } from '../../../support/load-handlers.ts';

test.each([
  ['', ''],
  ['/prod', ''],
  ['/prod', '/'],
])('the path in Location begins with "%s" and has no slash at the end of "%s"', (stage, end) => {
  const requestContext = { path: `${stage}/book${end}` } as APIGatewayProxyEvent['requestContext'];

  expect(locationHeader(readCollectionPath(createEvent({ requestContext })), 7)).toEqual({
    Location: `${stage}/book/7`,
  });
});

test('an event without path parameters names no book', () => {
  expect(() => readBookId(createEvent())).toThrow('Book not found');
});
