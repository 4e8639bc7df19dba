import { describe, expect, test } from 'vitest';
import { outcomes } from '../../../../lib/http/outcomes.ts';

describe('outcomes', () => {
  // docs/specification.md, sections 5 to 12 and 14.
  test('every outcome has the status and the fixed message that the specification gives it', () => {
    expect(Object.values(outcomes).map(({ status, message }) => `${status} ${message}`)).toEqual([
      '200 Token generated successfully',
      '201 Book created successfully',
      '200 Books retrieved successfully',
      '200 Book retrieved successfully',
      '200 Book updated successfully',
      '200 Book deleted successfully',
      '304 ',
      '400 Invalid input',
      '400 Invalid idempotency key',
      '400 Invalid request payload',
      '401 Authorization token required',
      '401 Invalid token',
      '401 Invalid credentials',
      '404 Book not found',
      '412 Precondition failed',
      '422 Idempotency key already used',
      '500 Could not generate token',
      '413 Payload too large',
      '500 Internal server error',
      '503 Service unavailable',
    ]);
  });
});
