import type { Hooks, PluginUtils, Serverless } from '../framework.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { findObstacle, findStack, findTableConflict, findVersion, stackNameOf } from './stack.ts';

interface CleanupPlugin {
  getObjectsToRemove(): Promise<readonly { readonly Key: string }[]>;
}

interface ChangeSetPlugin {
  getCreateChangeSetParams(options: unknown): object;
}

/**
 * Serverless plugin for what the framework leaves open about an update of the stack:
 * - A stack that cannot be deployed to, or uses another table than the setting says, ends it with advice (stack.ts).
 * - An alarm rolls back an update (rollback-triggers.ts), but not a rollback.
 * - A failed update ends when CloudFormation has rolled it back.
 * - A deploy keeps the artifacts of the running version, for a rollback.
 * - A deploy adopts the table that a removed stack left behind, with its books. A rollback keeps the stage's table.
 */
export default class UpdatePlugin {
  readonly hooks: Hooks;
  readonly #serverless: Serverless;

  constructor(serverless: Serverless, options: { verbose?: boolean }, { log }: PluginUtils) {
    this.#serverless = serverless;
    this.hooks = {
      initialize: () => {
        // Without it, the framework ends at the first failed resource, while CloudFormation is still rolling the update
        // back. The option does not make it print more.
        options.verbose = true;
        return this.#checkStack();
      },
      'before:aws:deploy:deploy:createStack': async () => {
        this.#adoptRetainedTable();
        await this.#keepRunningVersion();
        const minutes = Number(serverless.service.custom.stage.monitoringMinutes);
        const triggers = await findRollbackTriggers(await this.#findStack(), minutes, await this.#getConfig());
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

  get #stackName() {
    return stackNameOf(this.#serverless.getProvider('aws').getStage());
  }

  #getConfig() {
    return this.#serverless.getProvider('aws').getAwsSdkV3Config();
  }

  async #findStack() {
    return findStack(this.#stackName, await this.#getConfig());
  }

  async #checkStack(): Promise<void> {
    const { classes, processedInput, service } = this.#serverless;
    const command = processedInput.commands.join(' '); // `deploy list` has two
    const stack = ['deploy', 'rollback'].includes(command) ? await this.#findStack() : undefined;
    if (stack === undefined) return;
    const stage = this.#serverless.getProvider('aws').getStage();
    // A rollback keeps the table, whatever the setting is.
    const conflict = command === 'deploy' && findTableConflict(stage, stack, service.custom.stage.tableName);
    const obstacle = findObstacle(stage, stack.status) ?? conflict;
    if (obstacle) throw new classes.Error(obstacle);
  }

  /** CloudFormation imports an existing table that the template names. The framework has no setting for that. */
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

  /** The framework keeps the newest artifacts only. After a rollback, the running version may be older. */
  async #keepRunningVersion(): Promise<void> {
    const version = await findVersion(this.#stackName, await this.#getConfig());
    const isCleanup = (plugin: object): plugin is CleanupPlugin => 'getObjectsToRemove' in plugin;
    const plugin = this.#serverless.pluginManager.plugins.find(isCleanup);
    if (plugin === undefined) throw new Error('the framework has no plugin that removes artifacts');
    const getObjects = plugin.getObjectsToRemove.bind(plugin);
    plugin.getObjectsToRemove = async () => (await getObjects()).filter(({ Key }) => !Key.includes(`/${version}-`));
  }
}
