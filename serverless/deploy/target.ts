import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A stage cannot be found or used. The message says what to do. */
export class StageError extends Error {
  override readonly name = 'StageError';
}

/**
 * Prints the message of the error that ended a command: a {@link StageError}, or an error of AWS's clients, such as
 * missing credentials.
 *
 * @returns the exit code
 * @throws every other error
 */
export function reportStageError(error: Error): number {
  const isOfClient = '$metadata' in error || error.name === 'CredentialsProviderError';
  if (!(error instanceof StageError || isOfClient)) throw error;
  console.error(error.message);
  return 1;
}

export const noRegion = 'No region is given: set AWS_REGION, or add --region NAME.';

/** @returns the region of a command, from its option or from the environment */
export function findRegion(option: string | undefined): string | undefined {
  return option || process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION || undefined;
}

/** @returns what is wrong when there is no such stage, otherwise `undefined` */
export function findStageProblem(stage: string): string | undefined {
  const text = readFileSync(new URL('../stages.yml', import.meta.url), 'utf8');
  const { default: _, ...stages } = parse(text) as Record<string, unknown>;
  const names = Object.keys(stages);
  if (names.includes(stage)) return undefined;
  return `There is no stage "${stage}". The stages are ${names.join(', ')} (serverless/stages.yml).`;
}

/**
 * Checks a command's stage and region, and makes AWS's clients use that region.
 *
 * @throws {StageError} when there is no such stage, or no region is given
 */
export function selectTarget(stage: string, regionOption: string | undefined): void {
  const region = findRegion(regionOption);
  const problem = findStageProblem(stage) ?? (region === undefined ? noRegion : undefined);
  if (problem !== undefined) throw new StageError(problem);
  Object.assign(process.env, { AWS_REGION: region });
}
