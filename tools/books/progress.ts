const { stderr } = process;

const intervalMs = stderr.isTTY ? 100 : 5_000;
const clearLine = '\r\x1b[K';

/**
 * The progress of a command on standard error: a line that changes on a terminal, a new line now and then elsewhere. What is
 * done at the start is the work of earlier runs, and does not count for the speed of this one.
 */
export function startProgress(total: number, start: number, describe: () => string) {
  const startedAt = performance.now();
  let nextAt = startedAt + intervalMs;
  let said = '';
  let status = '';
  const measure = (done: number) => {
    const perSecond = (done - start) / Math.max((performance.now() - startedAt) / 1000, 0.001);
    const left = perSecond > 0 ? Math.ceil((total - done) / perSecond) : Number.NaN;
    const time = left < 60 ? `${left} s` : `${formatCount(Math.floor(left / 60))} min ${left % 60} s`;
    const speed = `${formatCount(Math.round(perSecond))}/s${left >= 0 ? `, ${time} left` : ''}`;
    return `${describe()}, ${speed} (${Math.floor((done / total) * 100)} %)`;
  };
  return {
    update(done: number) {
      if (performance.now() < nextAt) return;
      nextAt = performance.now() + intervalMs;
      status = measure(done);
      stderr.write(stderr.isTTY ? clearLine + status : `${status}\n`);
    },
    /** Prints another line, not twice in a row. */
    report(text: string) {
      if (text !== said) stderr.write(stderr.isTTY ? `${clearLine}${text}\n${status}` : `${text}\n`);
      said = text;
    },
    end() {
      if (stderr.isTTY && status !== '') stderr.write('\n');
    },
  };
}

/** @returns a whole number with separators and, when given, a noun in its number, as in "10,000 books" */
export function formatCount(value: number, noun?: string): string {
  return value.toLocaleString('en') + (noun ? ` ${noun}${value === 1 ? '' : 's'}` : '');
}
