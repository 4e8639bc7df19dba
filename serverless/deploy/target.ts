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

/** The stages that last, such as `prod`. serverless/stages.yml names them. */
export const lastingStages: readonly string[] = Object.keys(
  parse(readFileSync(new URL('../stages.yml', import.meta.url), 'utf8')),
).filter((name) => name !== 'default');

/** @returns whether a stage is one of a person, a branch or a pull request, and leaves nothing behind when it is removed */
export function isTemporary(stage: string): boolean {
  return !lastingStages.includes(stage);
}

/** The name of the sampling rule, `book-catalog-STAGE`, is the longest for its limit: X-Ray's 32 characters. */
const maxStageLength = 19;

/** Lower case alone, so that no two stages differ in case only. */
const temporaryStage = /^[a-z][a-z\d]*(-[a-z\d]+)*$/;

/** @returns what is wrong when there can be no such stage, otherwise `undefined` */
export function findStageProblem(stage: string): string | undefined {
  if (!isTemporary(stage)) return undefined;
  const meant = lastingStages.find((name) => isLike(stage.toLowerCase(), name));
  if (meant !== undefined) {
    return `There is no stage "${stage}". For ${meant}: --stage ${meant}. Another stage needs a name that is less like it.`;
  }
  // The deployer stack of `prod` is `book-catalog-deployer-prod`.
  const isRight = temporaryStage.test(stage) && stage.length <= maxStageLength && !/^deployer(-|$)/.test(stage);
  if (isRight) return undefined;
  return (
    `"${stage}" cannot be the name of a stage. It has to be ${lastingStages.join(', ')}, or at most ${maxStageLength} ` +
    'lower-case letters, digits and single hyphens that begin with a letter, like alice or pr-12, and not with "deployer".'
  );
}

/**
 * Whether somebody may mean another stage: `production`, `staging-prod`, `prdo`. Resources of `prod-2` would also have the
 * names of those that belong to `prod`.
 */
function isLike(stage: string, other: string): boolean {
  const sortLetters = (text: string) => [...text].toSorted().join('');
  const isPart = stage.startsWith(other) || stage.endsWith(other) || stage.split('-').includes(other);
  return isPart || sortLetters(stage) === sortLetters(other);
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
