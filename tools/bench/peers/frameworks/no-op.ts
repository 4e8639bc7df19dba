import type { PeerHandler } from '../endpoint.ts';

/** The floor: answers at once, whatever is asked, and loads nothing. */
export const serve = (): PeerHandler => async () => ({
  statusCode: 200,
  headers: { 'Content-Type': 'application/json' },
  body: '{"status":200,"message":"","data":null}',
});
