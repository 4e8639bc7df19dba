import { vi } from 'vitest';

/** What the code under test writes to standard output, kept off the terminal. */
export interface CapturedLog {
  /** All that was written so far. */
  readonly text: string;
  /** The same, one object for each line; throws when a line is no JSON. */
  readonly lines: readonly Record<string, unknown>[];
}

/** Captures standard output until vi.restoreAllMocks is called. */
export function captureLog(): CapturedLog {
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += chunk;
    return true;
  });
  return {
    get text() {
      return text;
    },
    get lines() {
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    },
  };
}
