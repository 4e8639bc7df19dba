import { MultiBar, Presets } from 'cli-progress';

const plainIntervalMs = 5_000;

/** Tells how far the command is: a bar on a terminal, a plain line now and then elsewhere; on standard error. */
export interface Progress {
  update(done: number): void;
  /** Says something else, not twice in a row. */
  say(text: string): void;
  /** Leaves the last figures as they are. */
  end(): unknown;
}

/** What is done at the start is the work of earlier runs, and does not count for the speed of this one. */
export function startProgress(total: number, start: number, describe: () => string): Progress {
  const output = process.stderr;
  const startedAt = performance.now();
  let said = '';
  let nextLineAt = startedAt + plainIntervalMs;
  const measure = (done: number) => {
    const perSecond = (done - start) / Math.max((performance.now() - startedAt) / 1000, 0.001);
    const left = perSecond > 0 ? Math.ceil((total - done) / perSecond) : Number.NaN;
    const time = left < 60 ? `${left} s` : `${formatCount(Math.floor(left / 60))} min ${left % 60} s`;
    return `${describe()}, ${formatCount(Math.round(perSecond))}/s${left >= 0 ? `, ${time} left` : ''}`;
  };
  // Without a terminal it does nothing.
  const format = '{bar} {percentage} % | {text}';
  const bars = new MultiBar({ format, stream: output, hideCursor: true }, Presets.shades_classic);
  const bar = bars.create(total, start, { text: '' });
  return {
    update: (done) => {
      if (output.isTTY) bar.update(done, { text: measure(done) });
      if (output.isTTY || performance.now() < nextLineAt) return;
      nextLineAt = performance.now() + plainIntervalMs;
      output.write(`${measure(done)} (${Math.floor((done / total) * 100)} %)\n`);
    },
    say: (text) => {
      if (text !== said) bars.isActive ? bars.log(`${text}\n`) : output.write(`${text}\n`);
      said = text;
    },
    // Ctrl-C has stopped it already; once more would move the cursor.
    end: () => bars.isActive && bars.stop(),
  };
}

/** @returns a whole number with separators and, when given, a noun in its number, as in "10,000 books" */
export function formatCount(value: number, noun?: string): string {
  return value.toLocaleString('en') + (noun ? ` ${noun}${value === 1 ? '' : 's'}` : '');
}
