const intervalMs = 5_000;

/** Returns a function that prints how many rows are done, now and then. Those before the start do not count for its speed. */
export function startProgress(total: number, start: number) {
  const startedAt = performance.now();
  let printedAt = startedAt;
  return (done: number) => {
    const now = performance.now();
    if (now - printedAt < intervalMs) return;
    printedAt = now;
    const perSecond = ((done - start) / (now - startedAt)) * 1000;
    const minutesLeft = formatCount(Math.ceil((total - done) / perSecond / 60));
    const percent = Math.floor((done / total) * 100);
    const speed = `${formatCount(Math.round(perSecond))}/s, ${minutesLeft} min left`;
    console.error(`${formatCount(done, 'row')} done, ${speed} (${percent} %)`);
  };
}

/** @returns a whole number with separators and, when given, a noun in its number, as in "10,000 books" */
export function formatCount(value: number, noun?: string): string {
  return value.toLocaleString('en') + (noun ? ` ${noun}${value === 1 ? '' : 's'}` : '');
}
