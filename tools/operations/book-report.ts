import { openSync, readFileSync, writeSync } from 'node:fs';
import { StageError } from '../../serverless/deploy/target.ts';
import type { BookIds } from './stored-books.ts';

/** A line for each book that differs, like `deleted 12345`, which an operator can cut with any editor. */
const lineFormat = /^(changed|created|deleted) ([1-9]\d{0,15})$/;

/**
 * Opens a report of a comparison, at once, so that a path that cannot be written does not cost a comparison.
 *
 * @returns writes the books of a shard @throws {StageError} when the file cannot be written
 */
export function openReport(path: string): (ids: BookIds) => void {
  const file = openFile(path);
  return ({ changed, created, deleted }) => {
    const lines = Object.entries({ changed, created, deleted }).flatMap(([state, ids]) =>
      ids.map((id) => `${state} ${id}\n`),
    );
    writeSync(file, lines.join(''));
  };
}

function openFile(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (error) {
    throw new StageError(`The report cannot be written: ${(error as Error).message}`);
  }
}

/**
 * Reads the lines of a report that an operator has chosen.
 *
 * @throws {StageError} when the file cannot be read, or a line is not one of a report
 */
export function readReport(path: string): BookIds {
  const lines = readLines(path);
  const entries = lines.flatMap((line, index) => {
    if (line === '') return [];
    const [, state, id] = lineFormat.exec(line) ?? [];
    if (state === undefined) throw new StageError(`${path}, line ${index + 1}: not a line like "deleted 12345".`);
    return [{ state, id: Number(id) }];
  });
  const idsOf = (wanted: string) => [...new Set(entries.flatMap(({ state, id }) => (state === wanted ? id : [])))];
  return { changed: idsOf('changed'), created: idsOf('created'), deleted: idsOf('deleted') };
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch (error) {
    throw new StageError(`The ids cannot be read: ${(error as Error).message}`);
  }
}
