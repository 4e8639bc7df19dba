import { v7 } from 'uuid';

/** A token that is further ahead was made with a wrong clock, and new tokens do not follow it. */
const maxAheadMs = 24 * 60 * 60 * 1000;

/** A UUIDv7 (RFC 9562 section 5.7) begins with its time: milliseconds since 1970. */
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

/**
 * Makes the token of one attempt at a write. As texts, tokens are in the order of their times. The new one is above
 * those that are given, so that a clock that is behind does not matter: a hybrid logical clock.
 *
 * Example: the clock says 10:00:00.000, and the book has a token of 10:00:00.350. The new token is of 10:00:00.351.
 *
 * @param earlier - tokens that it has to be above. Other texts, and tokens more than a day ahead, are ignored.
 */
export function createWriteToken(...earlier: readonly (string | undefined)[]): string {
  const now = Date.now();
  const tokens = earlier.map(String).filter((text) => uuidV7.test(text));
  const times = tokens.map((token) => timeOf(token) + 1).filter((time) => time <= now + maxAheadMs);
  return v7({ msecs: Math.max(now, ...times) });
}

/** @returns the time of a token in milliseconds since 1970 */
function timeOf(token: string): number {
  return Number.parseInt(token.slice(0, 8) + token.slice(9, 13), 16);
}
