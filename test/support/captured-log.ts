import { vi } from 'vitest';

/** The standard output and standard error of the code under test, both of which Lambda logs. */
export interface CapturedLog {
  readonly text: string;
  /** One object for each line; throws when a line is no JSON. */
  readonly lines: readonly Record<string, unknown>[];
}

/** Captures both until the next test begins. */
export function captureLog(): CapturedLog {
  let text = '';
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      text += chunk;
      return true;
    });
  }
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
