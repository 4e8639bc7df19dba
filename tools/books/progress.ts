const intervalMs = 5_000;

/**
 * Prints the progress of a command now and then. What is done at the start is the work of earlier runs, and does not count
 * for the speed of this one.
 */
export function startProgress(total: number, start: number, describe: () => string) {
  const startedAt = performance.now();
  let printedAt = startedAt;
  let reported = '';
  return {
    update(done: number) {
      const now = performance.now();
      if (now - printedAt < intervalMs) return;
      printedAt = now;
      const perSecond = ((done - start) / (now - startedAt)) * 1000;
      const minutesLeft = Math.ceil((total - done) / perSecond / 60);
      const speed = `${formatCount(Math.round(perSecond))}/s, ${formatCount(minutesLeft)} min left`;
      console.error(`${describe()}, ${speed} (${Math.floor((done / total) * 100)} %)`);
    },
    /** Prints another line, not twice in a row. */
    report(text: string) {
      if (text !== reported) console.error(text);
      reported = text;
    },
  };
}

/** @returns a whole number with separators and, when given, a noun in its number, as in "10,000 books" */
export function formatCount(value: number, noun?: string): string {
  return value.toLocaleString('en') + (noun ? ` ${noun}${value === 1 ? '' : 's'}` : '');
}
