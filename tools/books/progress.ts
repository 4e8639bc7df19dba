const intervalMs = 5_000;

/** Returns a function that prints now and then how many rows are done. */
export function startProgress(total: number) {
  let printedAt = performance.now();
  return (done: number) => {
    if (performance.now() - printedAt < intervalMs) return;
    printedAt = performance.now();
    const percent = Math.floor((done / total) * 100);
    console.error(`${formatCount(done)} of ${formatCount(total, 'row')} done (${percent} %)`);
  };
}

/** @returns a whole number with separators and, when given, a noun in its number, as in "10,000 books" */
export function formatCount(value: number, noun?: string): string {
  return value.toLocaleString('en') + (noun ? ` ${noun}${value === 1 ? '' : 's'}` : '');
}
