import { MultiBar, Presets } from 'cli-progress';

const plainIntervalMs = 5_000;

/** Tells how far the command is: a bar on a terminal, a plain line now and then elsewhere. */
export interface Progress {
  /**
   * @param done - how much of the total
   * @param text - the figures to show
   */
  update(done: number, text: string): void;
  /** Says something of its own. The same thing is not said twice in a row. */
  say(text: string): void;
  /** Leaves the last figures as they are; may be called again. */
  end(): void;
}

/**
 * @param total - what `done` will be in the end
 * @param output - where to; standard error, so that exported books may go to standard output
 */
export function startProgress(total: number, output: NodeJS.WriteStream = process.stderr): Progress {
  return output.isTTY ? showBar(total, output) : writeLines(total, output);
}

function showBar(total: number, output: NodeJS.WriteStream): Progress {
  const bars = new MultiBar(
    { format: '{bar} {percentage} % | {text} | {eta_formatted} left', stream: output, hideCursor: true },
    Presets.shades_classic,
  );
  const bar = bars.create(total, 0, { text: '' });
  let said = '';
  return {
    update: (done, text) => bar.update(done, { text }),
    say: (text) => {
      if (text !== said) bars.log(`${text}\n`);
      said = text;
    },
    // A second stop would move the cursor over what was written since the first.
    end: () => {
      if (bars.isActive) bars.stop();
    },
  };
}

function writeLines(total: number, output: NodeJS.WriteStream): Progress {
  let nextAt = Date.now() + plainIntervalMs;
  let said = '';
  return {
    update: (done, text) => {
      if (Date.now() < nextAt) return;
      nextAt = Date.now() + plainIntervalMs;
      output.write(`${text} (${Math.floor((done / (total || 1)) * 100)} %)\n`);
    },
    say: (text) => {
      if (text !== said) output.write(`${text}\n`);
      said = text;
    },
    end: () => {},
  };
}

/**
 * @param value - a whole number
 * @param noun - what is counted
 * @returns the number with separators and, if so, the noun in its number, as in "10,000 books"
 */
export function formatCount(value: number, noun?: string): string {
  const digits = value.toLocaleString('en');
  if (noun === undefined) return digits;
  return `${digits} ${noun}${value === 1 ? '' : 's'}`;
}
