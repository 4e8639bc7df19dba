import { createInterface } from 'node:readline/promises';
import { APIGateway } from '@aws-sdk/client-api-gateway';
import type { Hooks, PluginUtils, Serverless } from '../framework.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { findSecretProblem } from './secrets.ts';
import { chooseAccessMode, findDomainConflict, findObstacle, findStack, findVersion, stackNameOf } from './stack.ts';
import { isTemporary } from './target.ts';
import { describeVersions } from './versions.ts';

interface CleanupPlugin {
  getObjectsToRemove(): Promise<readonly { readonly Key: string }[]>;
}

interface ListPlugin {
  printDeployment(files: readonly { readonly directory: string }[]): void;
}

interface ChangeSetPlugin {
  getCreateChangeSetParams(options: unknown): object;
}

interface Options {
  verbose?: boolean;
  readonly yes?: boolean;
  readonly unset?: string | readonly string[]; // one is a text
}

/** The table of a stage, which only `npm run restore` changes. Without it, CloudFormation would take the template's default. */
const keptParameters = [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }] as const;

/**
 * Serverless plugin for what the framework leaves open about an update of the stack:
 * - A stack that cannot be deployed to, or whose settings are lost, ends it with advice (stack.ts).
 * - So does a secret that the functions could not start with (secrets.ts).
 * - The API gets its endpoint access mode (stack.ts).
 * - A stage with protected data is created when somebody confirms the account and the region.
 * - An alarm rolls back an update (rollback-triggers.ts), but not a rollback.
 * - A failed update ends when CloudFormation has rolled it back.
 * - A deploy keeps the artifacts of the running version, for a rollback.
 * - The list of deploys, which a rollback without a version prints, has the state of each (versions.ts).
 * - A temporary stage makes no role for access logs where the account has one.
 * - A deploy adopts the table that a removed stack left behind, with its books. Deploys and rollbacks keep a restored table.
 */
export default class UpdatePlugin {
  readonly hooks: Hooks;
  readonly commands = {
    deploy: {
      options: { yes: { usage: 'Creates a stage that does not exist without a question', type: 'boolean' } },
    },
  };
  readonly #serverless: Serverless;
  readonly #options: Options;
  /** Those of the artifacts that are kept, in the order of the list. */
  readonly #directories: string[] = [];

  constructor(serverless: Serverless, options: Options, { log }: PluginUtils) {
    this.#serverless = serverless;
    this.#options = options;
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
        const stack = await this.#findStack();
        const { provider } = serverless.service;
        provider.rollbackConfiguration = await findRollbackTriggers(stack, minutes, await this.#getConfig());
        if ('RestoredTable' in (stack?.parameters ?? {})) provider.stackParameters = keptParameters;
      },
      'before:rollback:rollback': () => {
        const { provider } = serverless.service;
        provider.rollbackConfiguration = noRollbackTriggers;
        provider.stackParameters = keptParameters;
      },
      'before:deploy:list:log': () => this.#collectDirectories(),
      'after:deploy:list:log': async () => {
        const lines = await describeVersions(this.#stackName, this.#directories, await this.#getConfig());
        const rollback = `npm run rollback -- --stage ${this.#stage}`;
        for (const line of [...lines, `To go back: ${rollback} --timestamp TIMESTAMP`]) log.notice(line);
      },
      'after:aws:package:finalize:mergeCustomProviderResources': () => this.#shareLogsRole(),
      'after:remove:remove': () => {
        const isKept = String(serverless.service.custom.stage.deletionProtection) === 'true';
        log.notice(
          isKept
            ? 'The table and its books are kept; the next deploy of this stage uses them.'
            : 'The table and its books are deleted.',
        );
      },
    };
  }

  get #stage() {
    return this.#serverless.getProvider('aws').getStage();
  }

  get #stackName() {
    return stackNameOf(this.#stage);
  }

  #getConfig() {
    return this.#serverless.getProvider('aws').getAwsSdkV3Config();
  }

  async #findStack() {
    return findStack(this.#stackName, await this.#getConfig());
  }

  async #checkStack(): Promise<void> {
    const { processedInput, service } = this.#serverless;
    const command = processedInput.commands.join(' '); // `deploy list` has two
    if (!['deploy', 'rollback'].includes(command)) return;
    const stack = await this.#findStack();
    const parameters = service.custom.stage;
    if (parameters.endpointAccessMode === '') {
      Object.assign(parameters, { endpointAccessMode: chooseAccessMode(stack) });
    }
    if (stack === undefined) {
      if (command === 'deploy' && String(parameters.deletionProtection) === 'true') await this.#confirmCreation();
      return;
    }
    const findConflict = () => findDomainConflict(this.#stage, stack, parameters, [this.#options.unset ?? []].flat());
    // A rollback has the domain of its template, whatever the settings are.
    const problem =
      findObstacle(this.#stage, stack.status) ??
      (command === 'deploy' ? findConflict() : undefined) ??
      (await findSecretProblem(stack, await this.#getConfig()));
    if (problem !== undefined) this.#fail(problem);
  }

  /** With the wrong account or region, a deploy would create a second stage, which nobody's clients know. */
  async #confirmCreation(): Promise<void> {
    if (this.#options.yes) return;
    const aws = this.#serverless.getProvider('aws');
    const place = `account ${await aws.getAccountId()}, region ${aws.getRegion()}`;
    const missing = `There is no stack ${this.#stackName} in ${place}.`;
    if (!process.stdin.isTTY) this.#fail(`${missing} To create it, add --yes.`);
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal
      .question(`${missing} Create it? [y/N] `)
      .catch(() => '') // Ctrl+C
      .finally(() => terminal.close());
    if (!/^y(es)?$/i.test(answer.trim())) this.#fail('Nothing has been created.');
  }

  #fail(message: string): never {
    throw new this.#serverless.classes.Error(message);
  }

  /** In place of the framework's list of the files of each deploy. */
  #collectDirectories(): void {
    const isList = (plugin: object): plugin is ListPlugin => 'printDeployment' in plugin;
    const plugin = this.#serverless.pluginManager.plugins.find(isList);
    if (plugin === undefined) throw new Error('the framework has no plugin that lists deploys');
    plugin.printDeployment = ([file]) => this.#directories.push(file?.directory ?? '');
  }

  /**
   * API Gateway has one role for all access logs of a region, so a stage that is removed must not take it along. A stage that
   * lasts makes it, or else the first stage of the account.
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
