import type { Hooks, PluginUtils, Serverless } from '../framework.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { readSettings, settingsPath } from './settings.ts';
import { findObstacle, findStack, findTableConflict, findVersion, stackNameOf } from './stack.ts';
import { findParameterProblem } from './stage-parameters.ts';
import { findRegion, findStageProblem, noRegion } from './target.ts';

const remoteCommands = new Set(['deploy', 'remove', 'rollback', 'info']); // those that talk to AWS
const updateCommands = new Set(['deploy', 'rollback']);

interface Options {
  readonly region?: string;
  verbose?: boolean;
}

interface CleanupPlugin {
  getObjectsToRemove(): Promise<readonly { readonly Key: string }[]>;
}

interface ChangeSetPlugin {
  getCreateChangeSetParams(options: unknown): object;
}

/**
 * Serverless plugin for what the framework leaves open about the commands on a stage:
 * - a stage, a region, credentials or parameters that are wrong or missing end a command before it does anything;
 * - `${setting:NAME}` is a setting of the stage (settings.ts) in a deploy, and nothing otherwise;
 * - a stack that takes no deploy, or uses another table than the setting says, ends it with what to do (stack.ts);
 * - an alarm rolls back an update (rollback-triggers.ts), but not a rollback;
 * - a failed update ends when CloudFormation has rolled it back;
 * - a deploy keeps the artifacts of the version before it, for a rollback;
 * - a deploy adopts the table that a removed stack left behind, with its books; a rollback keeps that of the stage.
 */
export default class DeployPlugin {
  readonly hooks: Hooks;
  readonly configurationVariablesSources = {
    setting: { resolve: ({ address }: { readonly address: string }) => this.#resolveSetting(address) },
  };
  readonly #serverless: Serverless;
  /** The names in `${setting:NAME}`. */
  readonly #settingNames = new Set<string>();
  #settings: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(serverless: Serverless, options: Options, { log }: PluginUtils) {
    this.#serverless = serverless;
    // Now, because the framework then announces a deploy to its default region.
    if (!findRegion(options.region) && this.#isOneOf(remoteCommands)) this.#fail(noRegion);
    this.hooks = {
      initialize: () => {
        // Otherwise the framework ends at the first failed resource, while CloudFormation is still rolling the update
        // back. It does not print more by this.
        options.verbose = true;
        return this.#check();
      },
      'before:aws:deploy:deploy:createStack': async () => {
        this.#adoptRetainedTable();
        await this.#keepRunningVersion();
        const minutes = Number(this.#parameters.monitoringMinutes);
        const config = await this.#aws.getAwsSdkV3Config();
        const triggers = await findRollbackTriggers(await this.#findStack(), minutes, config);
        serverless.service.provider.rollbackConfiguration = triggers;
      },
      'before:rollback:rollback': () => {
        const { provider } = serverless.service;
        provider.rollbackConfiguration = noRollbackTriggers;
        // The template of an earlier version would use the table that the stage had then.
        provider.stackParameters = [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }];
      },
      'after:remove:remove': () =>
        log.notice('The table and its books are kept; the next deploy of this stage uses them.'),
    };
  }

  get #aws() {
    return this.#serverless.getProvider('aws');
  }

  get #stage() {
    return this.#aws.getStage();
  }

  get #parameters() {
    return this.#serverless.service.custom.stage;
  }

  #isOneOf(commands: ReadonlySet<string>): boolean {
    return commands.has(this.#serverless.processedInput.commands[0] ?? '');
  }

  async #findStack() {
    return findStack(stackNameOf(this.#stage), await this.#aws.getAwsSdkV3Config());
  }

  async #check(): Promise<void> {
    const unknown = [...(await this.#prepare()).keys()].find((name) => !this.#settingNames.has(name));
    if (unknown !== undefined) {
      const parameter = `${settingsPath(this.#stage)}/${unknown}`;
      const known = [...this.#settingNames].join(', ');
      this.#fail(`${parameter} in Parameter Store is no setting. Settings are ${known}.`);
    }
    const problem = findParameterProblem(this.#parameters, stackNameOf(this.#stage), this.#aws.getRegion());
    if (problem !== undefined) this.#fail(problem);
    if (!this.#isOneOf(updateCommands)) return;
    const stack = await this.#findStack();
    if (stack === undefined) return;
    // A rollback keeps the table, whatever the setting is.
    const isDeploy = this.#serverless.processedInput.commands[0] === 'deploy';
    const conflict = isDeploy ? findTableConflict(this.#stage, stack, this.#parameters.tableName) : undefined;
    const obstacle = findObstacle(this.#stage, stack.status) ?? conflict;
    if (obstacle !== undefined) this.#fail(obstacle);
  }

  /** An error that is thrown here would get a text of the framework around it, so #check throws it. */
  async #resolveSetting(name: string): Promise<{ readonly value: string | null }> {
    this.#settingNames.add(name);
    const settings = await this.#prepare().catch(() => undefined);
    return { value: settings?.get(name) ?? null };
  }

  /** Checks stage, region and credentials, and reads the settings for a deploy; once. */
  #prepare(): Promise<ReadonlyMap<string, string>> {
    this.#settings ??= this.#checkAndReadSettings();
    return this.#settings;
  }

  async #checkAndReadSettings(): Promise<ReadonlyMap<string, string>> {
    const problem = findStageProblem(this.#stage);
    if (problem !== undefined) this.#fail(problem);
    const failWith = (start: string) => (error: Error) => this.#fail(`${start}: ${error.message.split('\n')[0]}`);
    if (this.#isOneOf(remoteCommands)) {
      await this.#aws.getAccountId().catch(failWith('AWS cannot be used with these credentials'));
    }
    if (this.#serverless.processedInput.commands[0] !== 'deploy') return new Map();
    return readSettings(this.#stage, await this.#aws.getAwsSdkV3Config()).catch(
      failWith(`The settings ${settingsPath(this.#stage)}/* in Parameter Store cannot be read`),
    );
  }

  /** The framework has no setting for it. CloudFormation finds a table that the template names, by its name. */
  #adoptRetainedTable(): void {
    const plugins = this.#serverless.pluginManager.plugins.filter(
      (plugin): plugin is ChangeSetPlugin => 'getCreateChangeSetParams' in plugin,
    );
    if (plugins.length === 0) throw new Error('the framework has no plugin that makes change sets');
    for (const plugin of plugins) {
      const getParams = plugin.getCreateChangeSetParams.bind(plugin);
      plugin.getCreateChangeSetParams = (options) => ({ ...getParams(options), ImportExistingResources: true });
    }
  }

  /** The framework keeps the newest artifacts only, and a rollback may have gone back to older ones. */
  async #keepRunningVersion(): Promise<void> {
    const version = await findVersion(stackNameOf(this.#stage), await this.#aws.getAwsSdkV3Config());
    const isCleanup = (plugin: object): plugin is CleanupPlugin => 'getObjectsToRemove' in plugin;
    const plugin = this.#serverless.pluginManager.plugins.find(isCleanup);
    if (plugin === undefined) throw new Error('the framework has no plugin that removes artifacts');
    const getObjects = plugin.getObjectsToRemove.bind(plugin);
    plugin.getObjectsToRemove = async () => (await getObjects()).filter(({ Key }) => !Key.includes(`/${version}-`));
  }

  #fail(message: string): never {
    throw new this.#serverless.classes.Error(message);
  }
}
