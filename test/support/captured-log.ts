import { vi } from 'vitest';

/** The standard output and standard error of the code under test, both of which Lambda logs. */
export type CapturedLog = ReturnType<typeof captureLog>;

/** Captures both until the next test begins. */
export function captureLog() {
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
    /** One object for each line; throws when a line is no JSON. */
    get lines(): readonly Record<string, unknown>[] {
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    },
  };
}
