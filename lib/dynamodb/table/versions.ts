import { v7 } from 'uuid';
import { StorageUnavailableError } from '../connection/errors.ts';
import { maxClockErrorMs } from './late-writes.ts';

/**
 * Makes the version of one attempt at a write. As texts, versions are in the order of their times. The new one is above
 * those that are given, so that a clock that is behind does not matter: a hybrid logical clock.
 *
 * Example: the clock says 10:00:00.000, and the book has a version of 10:00:00.350. The new version is of 10:00:00.351.
 *
 * @param earlier - versions that it has to be above. Other texts, and versions more than a day ahead, are ignored.
 * @param behindMs - how far the clock is known to be behind
 */
export function createVersion(earlier: readonly (string | undefined)[], behindMs = 0): string {
  const times = earlier.flatMap((version) => timeOf(version) ?? []);
  return v7({ msecs: Math.max(Date.now() + behindMs, ...times.map((time) => time + 1)) });
}

/**
 * Measures how far our clock is behind the one that made a version, at least. If the other instance's clock is ahead and it
 * keeps writing, a version just above its last one is already too low on arrival. So we add the lag.
 *
 * @returns milliseconds, 0 without a version that {@link createVersion} follows
 */
export function measureLag(version: string | undefined): number {
  const now = Date.now();
  return Math.max(0, (timeOf(version) ?? now) - now);
}

/**
 * Checks that no lost attempt may have been carried out and replaced since. Only a higher version replaces another one.
 *
 * @param lost - the versions of lost attempts
 * @param stored - the version that is stored, which is not one of them. The default is below every version.
 * @throws {StorageUnavailableError} when nobody can know
 */
export function checkNotReplaced(lost: readonly string[], stored = ''): void {
  // Stryker disable next-line EqualityOperator: they are never equal, what is stored by an attempt is the result
  if (lost.some((version) => version < stored)) throw new StorageUnavailableError('others changed the book');
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
