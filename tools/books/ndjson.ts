import { CommandError } from './errors.ts';
import { maxRowLength } from './file-text.ts';

/** A line, and its object; `undefined` when it is not a JSON object. */
export type LocatedObject = { readonly line: number; readonly object: Readonly<Record<string, unknown>> | undefined };

/**
 * Reads the lines one by one. Blank lines are left out.
 *
 * @throws {CommandError} when a line is longer than any book
 */
export async function* readObjects(chunks: AsyncIterable<string>): AsyncGenerator<LocatedObject> {
  let line = 0;
  for await (const text of readLines(chunks)) {
    line += 1;
    if (text.length > maxRowLength) throw new CommandError(`line ${line} is over 4 MB`);
    if (text.trim() !== '') yield { line, object: parseObject(text) };
  }
}

/** Splits at line feeds alone: JSON may have other line ends in its texts. */
async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > maxRowLength) break;
  }
  yield rest;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
