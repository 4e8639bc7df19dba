import type { Hooks, PluginUtils, Serverless } from '../framework-types.ts';
import { findParameterProblem, parameterNames } from './stage-parameters.ts';
import { findRegion, findStageProblem, noRegion } from './target.ts';

/** What the framework gives to the resolver of a variable `${source:address}`. */
interface Variable {
  readonly resolveVariable: (variable: string) => Promise<unknown>;
}

/** The commands that talk to AWS. */
const remoteCommands = ['deploy', 'remove', 'rollback', 'info'];

/**
 * Serverless plugin that checks a command before it does anything. It says where the command goes, and ends one whose
 * stage, region, credentials or parameters are wrong or missing.
 */
export default class CheckPlugin {
  readonly hooks: Hooks;
  /** `${parameters:all}`: the values of all parameters of the stage, for the plugins. */
  readonly configurationVariablesSources = { parameters: { resolve: resolveParameters } };
  readonly #serverless: Serverless;
  readonly #isRemote: boolean;
  readonly #log: PluginUtils['log'];

  constructor(
    serverless: Serverless,
    options: { readonly region?: string; readonly param?: readonly string[] },
    { log }: PluginUtils,
  ) {
    this.#serverless = serverless;
    this.#log = log;
    const { commands, isHelpRequest } = serverless.processedInput;
    this.#isRemote = !isHelpRequest && remoteCommands.includes(commands[0] ?? '');
    // Not in a hook, because the framework would first announce a deploy to its default region.
    if (!findRegion(options.region) && this.#isRemote) this.#fail(noRegion);
    this.hooks = { initialize: () => this.#check(options.param ?? []) };
  }

  /** @param overrides - the options `--param NAME=VALUE` */
  async #check(overrides: readonly string[]): Promise<void> {
    const aws = this.#serverless.getProvider('aws');
    const stage = aws.getStage();
    const problem =
      findStageProblem(stage) ?? findParameterProblem(stage, this.#serverless.service.custom.parameters, overrides);
    if (problem !== undefined) this.#fail(problem);
    if (!this.#isRemote) return;
    const account = await aws.getAccountId().catch((error: Error) => {
      this.#fail(`AWS cannot be used with these credentials: ${error.message.split('\n')[0]}`);
    });
    this.#log.notice(`Account ${account}, region ${aws.getRegion()}, stage ${stage}`);
  }

  #fail(message: string): never {
    throw new this.#serverless.classes.Error(message);
  }
}

async function resolveParameters({ resolveVariable }: Variable): Promise<{ readonly value: object }> {
  const values = await Promise.all(parameterNames.map(async (name) => [name, await resolveVariable(`param:${name}`)]));
  return { value: Object.fromEntries(values) };
}
