import { v7 } from 'uuid';

const dayMs = 24 * 60 * 60 * 1000;

/** How wrong any clock may be: that of an instance, and that of the database. */
const maxClockErrorMs = dayMs;

/**
 * How late a write may arrive: held by the network for a day, from the time on its instance's clock, which may be behind, to
 * the time on the database's clock, which may be ahead. AWS itself refuses a request five minutes after the time in its
 * signature ("AWS Signature Version 4 for API requests"). The engines of a laptop check no signature.
 */
export const maxWriteDelaySeconds = (dayMs + 2 * maxClockErrorMs) / 1000;

/**
 * Makes the version of one attempt at a write. As texts, versions are in the order of their times. The new one is above
 * those that are given, so that a clock that is behind does not matter: a hybrid logical clock.
 *
 * Example: the clock says 10:00:00.000, and the book has a version of 10:00:00.350. The new version is of 10:00:00.351.
 *
 * @param earlier - versions that it has to be above. Other texts, and versions more than a day ahead, are ignored.
 * @param skewMs - how far the clock is known to be behind
 */
export function createVersion(earlier: readonly (string | undefined)[], skewMs = 0): string {
  const times = earlier.flatMap((version) => timeOf(version) ?? []);
  return v7({ msecs: Math.max(Date.now() + skewMs, ...times.map((time) => time + 1)) });
}

/**
 * Measures how far our clock is behind the one that made a version, at least. If the other instance's clock is ahead and it
 * keeps writing, a version just above its last one is already too low on arrival. So we add the skew.
 *
 * @returns milliseconds, 0 without a version that {@link createVersion} follows
 */
export function measureClockSkew(version: string | undefined): number {
  const now = Date.now();
  return Math.max(0, (timeOf(version) ?? now) - now);
}

/** @returns the time of a version in milliseconds since 1970, `undefined` of other texts and of versions too far ahead */
function timeOf(version: string | undefined): number | undefined {
  // A UUIDv7 (RFC 9562 section 5.7) begins with its time.
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(String(version));
  if (match === null) return undefined;
  const time = Number.parseInt(match.slice(1).join(''), 16);
  // One that is further ahead was made with a wrong clock. New versions do not have to be above it.
  return time < Date.now() + maxClockErrorMs ? time : undefined;
}
