import { groupNames } from '../../conformance/suite.ts';

/** All cases send over 4,000 requests from one address, and the pipeline gives the smoke test ten minutes. */
const minRateOfAllCases = 500;

/** The groups that use every endpoint, with few requests. */
const shortGroups = ['books', 'lists', 'token-endpoint'];

/** Other clients may have the same address. */
const usedShare = 0.9;

/**
 * Plans a smoke test that stays within the limit of an address.
 *
 * @param requestsPerAddress - the limit of the stage, in requests a minute, if it has one
 * @returns the groups to leave out, and the rate for those that are left, in requests a minute
 */
export function planSmoke(requestsPerAddress: number | undefined) {
  if (requestsPerAddress === undefined || requestsPerAddress >= minRateOfAllCases) return { without: [] };
  const without = groupNames.filter((name) => !shortGroups.includes(name));
  return { without, requestsPerMinute: usedShare * requestsPerAddress };
}
