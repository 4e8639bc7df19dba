import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A stage cannot be found or used. The message says what to do. */
export class StageError extends Error {
  override readonly name = 'StageError';
}

export const noRegion = 'No region is given: set AWS_REGION, or add --region NAME.';

/** @returns the region of a command: that of its option, or of the environment */
export function findRegion(option: string | undefined): string | undefined {
  return option || process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION || undefined;
}

/** @throws {StageError} unless there is such a stage */
export function checkStage(stage: string, names: readonly string[]): void {
  if (names.includes(stage)) return;
  throw new StageError(
    `There is no stage "${stage}". The stages are ${names.join(', ')} (serverless/stages.yml).`,
  );
}

/**
 * Checks a command's stage and region, and makes AWS's clients use that region.
 *
 * @throws {StageError} when there is no such stage, or no region is given
 */
export function selectTarget(stage: string, regionOption: string | undefined): void {
  const text = readFileSync(new URL('../stages.yml', import.meta.url), 'utf8');
  const { default: _, ...stages } = parse(text) as Record<string, unknown>;
  checkStage(stage, Object.keys(stages));
  const region = findRegion(regionOption);
  if (region === undefined) throw new StageError(noRegion);
  process.env.AWS_REGION = region;
}
