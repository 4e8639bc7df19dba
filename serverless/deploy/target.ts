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
export function reportExpectedError(error: Error): number {
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

/** The parameters of each permanent stage, and the `default` of all stages. */
export const stages: Readonly<Record<string, Readonly<Record<string, unknown>>>> = parse(
  readFileSync(new URL('../stages.yml', import.meta.url), 'utf8'),
);

/** The permanent stages, such as `prod`. */
export const permanentStages: readonly string[] = Object.keys(stages).filter((name) => name !== 'default');

/** @returns whether a stage leaves nothing behind when it is removed */
export function isTemporary(stage: string): boolean {
  return !permanentStages.includes(stage);
}

/** The stack of a stage called `deployer-prod` would have the name of a deployer stack. */
const takenStarts = [...permanentStages, 'deployer'];

/** Lower case alone, so that no two stages differ in case only. 20 characters leave enough for the names of functions. */
const temporaryStage = new RegExp(`^(?!${takenStarts.join('|')})(?=.{1,20}$)[a-z][a-z\\d]*(-[a-z\\d]+)*$`);

/** @returns what is wrong when there can be no such stage, otherwise `undefined` */
export function findStageProblem(stage: string): string | undefined {
  if (!isTemporary(stage) || temporaryStage.test(stage)) return undefined;
  return (
    `"${stage}" cannot be the name of a stage. It has to be ${permanentStages.join(' or ')}, or up to 20 lower-case letters, ` +
    `digits and single hyphens that begin with a letter, but not with ${takenStarts.join(', ')}.`
  );
}

/**
 * Checks a command's stage and region, and makes AWS's clients use that region.
 *
 * @throws {StageError} when there can be no such stage, or no region is given
 */
export function selectTarget(stage: string, regionOption: string | undefined): void {
  const region = findRegion(regionOption);
  const problem = findStageProblem(stage) ?? (region === undefined ? noRegion : undefined);
  if (problem !== undefined) throw new StageError(problem);
  Object.assign(process.env, { AWS_REGION: region });
}
