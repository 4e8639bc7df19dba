import pLimit from 'p-limit';

/** Runs an action a number of times, some concurrently. @returns the results in the order of the runs, counted from 0 */
export async function inParallel<Result>(
  times: number,
  inFlight: number,
  action: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const limit = pLimit(inFlight);
  const actions = Array.from({ length: times }, (_, index) => limit(() => action(index)));
  // A failure is reported when all have ended, because a running action may still write.
  await Promise.allSettled(actions);
  return Promise.all(actions);
}
