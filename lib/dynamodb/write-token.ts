import { v7 } from 'uuid';

/** Further ahead than this, a token was made with a wrong clock. It is not followed. */
const maxAheadMs = 24 * 60 * 60 * 1000;

/** A UUIDv7 (RFC 9562 section 5.7) begins with its time: milliseconds since 1970. */
const uuidV7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/**
 * Makes the token of one attempt at a write. As texts, tokens are in the order of their times, and the new one is above those
 * that are given: a hybrid logical clock, so that a clock that is behind does not matter.
 *
 * Example: the clock says 10:00:00.000, and the book has a token of 10:00:00.350. The new token has the time 10:00:00.351.
 *
 * @param earlier - tokens that it has to be above, unless they are more than a day ahead or no tokens
 */
export function createWriteToken(...earlier: readonly (string | undefined)[]): string {
  const now = Date.now();
  const times = earlier.map((token) => timeOf(token) + 1).filter((time) => time <= now + maxAheadMs);
  return v7({ msecs: Math.max(now, ...times) });
}

/** @returns the milliseconds since 1970 of a token, `NaN` of any other text */
function timeOf(token = ''): number {
  const [, high = '', low = ''] = uuidV7.exec(token) ?? [];
  return Number.parseInt(high + low, 16);
}
