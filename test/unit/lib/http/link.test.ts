import type { APIGatewayProxyEvent } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { linkToNext } from '../../../../lib/http/link.ts';
import { createEvent } from '../../../support/load-handlers.ts';

const link = (path: string) => {
  const requestContext = { path } as APIGatewayProxyEvent['requestContext'];
  return linkToNext(createEvent({ requestContext }), { limit: 10, after: 25 });
};

describe('linkToNext', () => {
  test('the link leads to the same path, with the parameters of the next page', () => {
    expect(link('/books')).toEqual({ Link: '</books?limit=10&after=25>; rel="next"' });
  });

  test('behind a stage of API Gateway the link holds the stage', () => {
    expect(link('/prod/books')).toEqual({ Link: '</prod/books?limit=10&after=25>; rel="next"' });
  });
});
