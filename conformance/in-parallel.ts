/** Runs an action a number of times, some concurrently. @returns the results in the order of the runs, counted from 0 */
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
  // All end before a failure is reported, because a running action may still write.
  const ended = await Promise.allSettled(Array.from({ length: inFlight }, work));
  const failure = ended.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return results;
}
