import type { Hooks, PluginUtils, Serverless } from '../framework.ts';
import { readSettings, settingsPath } from './settings.ts';
import { findParameterProblem, stageParameters } from './stage-parameters.ts';
import { findRegion, findStageProblem, noRegion } from './target.ts';

/** What the framework gives to the resolver of a variable `${source:address}`. */
interface Variable {
  readonly address: string;
  readonly resolveVariable: (variable: string) => Promise<unknown>;
}

/** The commands that talk to AWS. */
const remoteCommands = ['deploy', 'remove', 'rollback', 'info'];

/**
 * Serverless plugin that checks a command before it does anything. It says where the command goes, and ends one whose
 * stage, region, credentials or parameters are wrong or missing. It also resolves two variables:
 * - `${setting:NAME}`: in a deploy to a setting of the stage (settings.ts), in other commands and with `--unset NAME` to
 *   nothing.
 * - `${parameters:all}`: to the values of all parameters in the table (stage-parameters.ts).
 */
export default class SettingsPlugin {
  readonly hooks: Hooks;
  readonly commands = {
    deploy: {
      options: { unset: { usage: 'Deploys as if a setting had no value (--unset NAME)', type: 'multiple' } },
    },
  };
  readonly configurationVariablesSources = {
    setting: { resolve: ({ address }: Variable) => this.#resolveSetting(address) },
    parameters: { resolve: resolveParameters },
  };
  readonly #serverless: Serverless;
  readonly #isRemote: boolean;
  /** The options `--param NAME=VALUE`. */
  readonly #overrides: readonly string[];
  /** The options `--unset NAME`. */
  readonly #unset: readonly string[];
  readonly #log: PluginUtils['log'];
  /** The names in `${setting:NAME}`. */
  readonly #settingNames = new Set<string>();
  #settings: ReturnType<typeof readSettings> | undefined;

  constructor(
    serverless: Serverless,
    options: {
      readonly region?: string;
      readonly param?: readonly string[];
      readonly unset?: string | readonly string[];
    },
    { log }: PluginUtils,
  ) {
    this.#serverless = serverless;
    this.#log = log;
    this.#overrides = options.param ?? [];
    this.#unset = [options.unset ?? []].flat();
    const { commands, isHelpRequest } = serverless.processedInput;
    this.#isRemote = !isHelpRequest && remoteCommands.includes(commands[0] ?? '');
    // Already here, because the framework next announces a deploy to its default region.
    if (!findRegion(options.region) && this.#isRemote) this.#fail(noRegion);
    this.hooks = { initialize: () => this.#check() };
  }

  get #aws() {
    return this.#serverless.getProvider('aws');
  }

  get #stage() {
    return this.#aws.getStage();
  }

  async #check(): Promise<void> {
    if (this.#isRemote) {
      const account = await this.#findAccount();
      this.#log.notice(`Account ${account}, region ${this.#aws.getRegion()}, stage ${this.#stage}`);
    }
    const settings = await this.#prepare();
    const known = [...this.#settingNames].join(', ');
    const [, unknown] = [...settings].find(([name]) => !this.#settingNames.has(name)) ?? [];
    if (unknown !== undefined) this.#fail(`${unknown.Name} in Parameter Store is no setting. Settings are ${known}.`);
    const unknownUnset = this.#unset.find((name) => !this.#settingNames.has(name));
    if (unknownUnset !== undefined) this.#fail(`--unset ${unknownUnset} names no setting. Settings are ${known}.`);
    const names = Object.keys(stageParameters);
    const unused = this.#overrides.find((override) => !names.includes(override.split('=', 1)[0] ?? ''));
    if (unused !== undefined) {
      this.#fail(`--param ${unused} names none of the parameters in serverless/stages.yml: ${names.join(', ')}.`);
    }
    const parameters = this.#serverless.service.custom.stage;
    const problem = findParameterProblem(parameters, this.#aws.getRegion());
    if (problem !== undefined) this.#fail(problem);
  }

  /** Errors are left to #check, because the framework would wrap those of a variable in a text of its own. */
  async #resolveSetting(name: string): Promise<{ readonly value: string | null }> {
    this.#settingNames.add(name);
    const settings = await this.#prepare().catch(() => undefined);
    return { value: this.#unset.includes(name) ? null : (settings?.get(name)?.Value ?? null) };
  }

  /** Checks stage and credentials, and reads the settings for a deploy. It does so once. */
  #prepare(): ReturnType<typeof readSettings> {
    this.#settings ??= this.#checkAndReadSettings();
    return this.#settings;
  }

  async #checkAndReadSettings(): ReturnType<typeof readSettings> {
    const problem = findStageProblem(this.#stage);
    if (problem !== undefined) this.#fail(problem);
    if (this.#isRemote) await this.#findAccount();
    if (this.#serverless.processedInput.commands[0] !== 'deploy') return new Map();
    return readSettings(this.#stage, await this.#aws.getAwsSdkV3Config()).catch(
      this.#failWith(`The settings ${settingsPath(this.#stage)}/* in Parameter Store cannot be read`),
    );
  }

  #findAccount(): Promise<string> {
    return this.#aws.getAccountId().catch(this.#failWith('AWS cannot be used with these credentials'));
  }

  #failWith(start: string): (error: Error) => never {
    return (error) => this.#fail(`${start}: ${error.message.split('\n')[0]}`);
  }

  #fail(message: string): never {
    throw new this.#serverless.classes.Error(message);
  }
}

async function resolveParameters({ resolveVariable }: Variable): Promise<{ readonly value: object }> {
  const names = Object.keys(stageParameters);
  const values = await Promise.all(names.map(async (name) => [name, await resolveVariable(`param:${name}`)]));
  return { value: Object.fromEntries(values) };
}
