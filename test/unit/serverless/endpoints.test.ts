import { expect, test } from 'vitest';
import { endpoints } from '../../../serverless/endpoints.ts';

// So that the response of a slow database has the envelope, and says when to try again.
test.each(endpoints)(
  '$name ends before API Gateway gives up on it',
  ({ timeout, event: { timeoutInMillis = 29_000 } }) => {
    expect(timeout * 1000).toBeLessThan(timeoutInMillis);
  },
);
