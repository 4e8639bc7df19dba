/** The response headers that scripts of other origins may read (specification 13.3). */
export const exposedHeaders = 'ETag, Idempotency-Replayed, Link, Location, Retry-After, x-amzn-RequestId';
