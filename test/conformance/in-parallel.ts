/**
 * Works through a list with a bounded number of items in progress.
 *
 * @param items - what to work on, begun in this order
 * @param width - how many at once
 * @param work - what to do with one item
 * @returns the results, in the order of the items
 */
export async function workInParallel<Item, Result>(
  items: Iterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = [...items].entries();
  const workers = Array.from({ length: width }, async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  });
  // All have to end before the first failure is passed on: what still runs may still make books.
  const failure = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return results;
}
