/**
 * Runs an action many times, some at a time.
 *
 * @param times - how often
 * @param inFlight - how many at a time
 * @param action - gets the number of its run, from 0
 * @returns the results in the order of the runs
 */
export async function inParallel<Result>(
  times: number,
  inFlight: number,
  action: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    while (next < times) {
      const index = next;
      next += 1;
      results[index] = await action(index);
    }
  };
  // All end before a failure is passed on: what still runs may still write.
  const ended = await Promise.allSettled(Array.from({ length: inFlight }, work));
  const failure = ended.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return results;
}
