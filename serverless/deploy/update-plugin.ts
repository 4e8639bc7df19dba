import { APIGateway } from '@aws-sdk/client-api-gateway';
import type { Hooks, PluginUtils, Serverless } from '../framework-types.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { findStack, stackNameOf } from './stack.ts';
import { isTemporary } from './target.ts';

interface ChangeSetPlugin {
  getCreateChangeSetParams(options: unknown): object;
}

/** Keeps the table that `npm run restore` has chosen. Without it, CloudFormation would use the template's default. */
const keptParameters = [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }] as const;

/**
 * Serverless plugin for what the framework leaves open about an update of the stack:
 * - An alarm rolls back an update (rollback-triggers.ts), but not a rollback.
 * - A failed update ends when CloudFormation has rolled it back.
 * - A deploy adopts the table that a removed stack left behind, with its books. Deploys and rollbacks keep a restored table.
 * - A temporary stage makes no role for access logs where the account has one.
 * - A command whose files another one has replaced says so.
 * - The end of a command says whether anybody receives alarms, and what has become of the table.
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
      },
      'after:aws:package:finalize:mergeCustomProviderResources': () => this.#shareLogsRole(),
      'before:aws:deploy:deploy:createStack': async () => {
        this.#adoptRetainedTable();
        const config = await this.#getConfig();
        const stack = await findStack(stackNameOf(this.#stage), config);
        const minutes = Number(serverless.service.custom.parameters.monitoringMinutes);
        const { provider } = serverless.service;
        provider.rollbackConfiguration = await findRollbackTriggers(stack, minutes, config);
        if ('RestoredTable' in (stack?.parameters ?? {})) provider.stackParameters = keptParameters;
      },
      'after:deploy:deploy': () => {
        if (isTemporary(this.#stage) || serverless.service.custom.parameters.alarmEmail !== '') return;
        log.notice(`Nobody receives the alarms of ${this.#stage}: set alarmEmail in serverless/stages.yml.`);
      },
      'before:rollback:rollback': () => {
        const { provider } = serverless.service;
        provider.rollbackConfiguration = noRollbackTriggers;
        provider.stackParameters = keptParameters;
      },
      error: (error) => {
        if (error?.code !== 'ENOENT' || !error.path?.includes('.serverless')) return;
        const command = `aws cloudformation describe-stacks --stack-name ${stackNameOf(this.#stage)}`;
        log.notice(`Another command in this clone has replaced .serverless. The stage may be updated: ${command}`);
      },
      'after:remove:remove': () => {
        log.notice(
          isTemporary(this.#stage)
            ? 'The table and its books are deleted.'
            : `The books are kept. The next deploy of this stage uses the table ${stackNameOf(this.#stage)}.`,
        );
      },
    };
  }

  get #stage() {
    return this.#serverless.getProvider('aws').getStage();
  }

  #getConfig() {
    return this.#serverless.getProvider('aws').getAwsSdkV3Config();
  }

  /**
   * API Gateway has one role for all access logs of a region. A temporary stage uses the role that is there, and makes one
   * only when there is none, because other stages need the role after its removal.
   */
  async #shareLogsRole(): Promise<void> {
    const { processedInput, service } = this.#serverless;
    if (processedInput.commands[0] !== 'deploy' || !isTemporary(this.#stage)) return;
    const { cloudwatchRoleArn } = await new APIGateway(await this.#getConfig()).getAccount({});
    if (cloudwatchRoleArn === undefined) return;
    const { Resources } = service.provider.compiledCloudFormationTemplate;
    for (const name of ['ApiGatewayAccount', 'ApiGatewayLogsRole']) delete Resources[name];
    delete Resources.ApiGatewayStage?.DependsOn;
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
}
