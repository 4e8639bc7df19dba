import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { linkToNext, locationHeader } from '../../../../lib/http/url-parameters.ts';
import { createEvent } from '../../../support/load-handlers.ts';

test.each([
  ['', ''],
  ['/prod', ''],
  ['/prod', '/'],
])('the paths in Link and Location begin with "%s" and have no slash at the end of "%s"', (stage, end) => {
  const requested = (path: string) =>
    createEvent({ requestContext: { path: stage + path + end } as APIGatewayProxyEvent['requestContext'] });

  expect(linkToNext(requested('/books'), 10, 25)).toEqual({ Link: `<${stage}/books?limit=10&after=25>; rel="next"` });
  expect(locationHeader(requested('/book'), 7)).toEqual({ Location: `${stage}/book/7` });
});
