import { expect, test } from 'vitest';
import { functions } from '../../../serverless/functions.ts';

// So that the response of a slow database has the envelope, and says when to try again.
test.each(functions)(
  '$name ends before API Gateway gives up on it',
  ({ timeout, event: { timeoutInMillis = 29_000 } }) => {
    expect(timeout * 1000).toBeLessThan(timeoutInMillis);
  },
);
