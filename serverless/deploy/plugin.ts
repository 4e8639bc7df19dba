import type { Hooks, PluginUtils, Serverless, Template } from '../framework.ts';
import { findQuotaProblem } from './concurrency-quota.ts';
import { addPreflights, corsHeaders } from './cors.ts';
import { createGatewayResponses } from './gateway-responses.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { readSettings, settingsPath } from './settings.ts';
import { findObstacle, findStack, stackNameOf } from './stack.ts';
import { findParameterProblem } from './stage-parameters.ts';
import { checkStage, findRegion, noRegion } from './target.ts';

const remoteCommands = new Set(['deploy', 'remove', 'rollback', 'info']); // those that talk to AWS
const updateCommands = new Set(['deploy', 'rollback']);

interface Options {
  readonly region?: string;
  verbose?: boolean;
}

interface ChangeSetPlugin {
  getCreateChangeSetParams(options: unknown): object;
}

/**
 * Serverless plugin for what the framework leaves open about the stack:
 * - a stage, a region, credentials or parameters that are wrong or missing end a command before it does anything;
 * - `${setting:NAME}` is a setting of the stage (settings.ts) in a deploy, and nothing otherwise;
 * - the template has the gateway responses, the permissions boundary, and the parts whose parameters are set;
 * - a stack that takes no deploy ends it with what to do (stack.ts);
 * - alarms of errors roll back an update (rollback-triggers.ts), but not a rollback;
 * - a failed update ends when CloudFormation has rolled it back;
 * - a deploy says when the account has too few function instances (concurrency-quota.ts);
 * - a deploy adopts the table that a removed stack left behind, with its books; a rollback keeps a restored one.
 */
export default class DeployPlugin {
  readonly hooks: Hooks;
  readonly configurationVariablesSources = {
    setting: { resolve: ({ address }: { readonly address: string }) => this.#resolveSetting(address) },
  };
  readonly #serverless: Serverless;
  /** The names in `${setting:NAME}`. */
  readonly #settingNames = new Set<string>();
  /** Whether the command changes the stack, and nothing was in its way. */
  #updates = false;
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
      'before:package:compileEvents': () => {
        const { functions, provider } = serverless.service;
        const origin = provider.environment.CORS_ORIGIN;
        if (origin !== '') addPreflights(Object.values(functions), origin);
      },
      'after:aws:package:finalize:mergeCustomProviderResources': () => this.#completeTemplate(),
      'before:aws:deploy:deploy:createStack': () => {
        this.#adoptRetainedTable();
        return this.#setRollbackTriggers();
      },
      'after:deploy:deploy': async () => {
        const burst = Number(serverless.service.custom.stage.throttlingBurstLimit);
        const problem = await findQuotaProblem(burst, await this.#aws.getAwsSdkV3Config());
        if (problem !== undefined) log.notice(problem);
      },
      'before:rollback:rollback': () => {
        serverless.service.provider.rollbackConfiguration = noRollbackTriggers;
        return this.#keepRestoredTable();
      },
      'after:remove:remove': () =>
        log.notice('The table and its books are kept; the next deploy of this stage uses them.'),
      error: async () => {
        const obstacle = this.#updates && (await this.#findObstacle().catch(() => undefined));
        if (obstacle) log.notice(obstacle);
      },
    };
  }

  get #aws() {
    return this.#serverless.getProvider('aws');
  }

  #isOneOf(commands: ReadonlySet<string>): boolean {
    return commands.has(this.#serverless.processedInput.commands[0] ?? '');
  }

  async #findStack() {
    return findStack(stackNameOf(this.#aws.getStage()), await this.#aws.getAwsSdkV3Config());
  }

  async #findObstacle(): Promise<string | undefined> {
    const stack = await this.#findStack();
    return stack && findObstacle(this.#aws.getStage(), stack.status);
  }

  async #check(): Promise<void> {
    const unknown = [...(await this.#prepare()).keys()].find((name) => !this.#settingNames.has(name));
    if (unknown !== undefined) {
      const parameter = `${settingsPath(this.#aws.getStage())}/${unknown}`;
      const known = [...this.#settingNames].join(', ');
      this.#fail(`${parameter} in Parameter Store is no setting. Settings are ${known}.`);
    }
    const { stage } = this.#serverless.service.custom;
    const problem = findParameterProblem(stage, stackNameOf(this.#aws.getStage()), this.#aws.getRegion());
    if (problem !== undefined) this.#fail(problem);
    if (!this.#isOneOf(updateCommands)) return;
    const obstacle = await this.#findObstacle();
    if (obstacle !== undefined) this.#fail(obstacle);
    this.#updates = true;
  }

  /** An error that is thrown here would get a text of the framework around it, so #check throws it. */
  async #resolveSetting(name: string): Promise<{ readonly value: string | null }> {
    this.#settingNames.add(name);
    const settings = await this.#prepare().catch(() => undefined);
    return { value: settings?.get(name) ?? null };
  }

  /** Checks stage, region and credentials, and reads the settings for a deploy; once. */
  #prepare(): Promise<ReadonlyMap<string, string>> {
    this.#settings ??= this.#checkTarget().then(() =>
      this.#serverless.processedInput.commands[0] === 'deploy' ? this.#readSettings() : new Map(),
    );
    return this.#settings;
  }

  async #checkTarget(): Promise<void> {
    const { configurationInput } = this.#serverless;
    const { default: _, ...stages } = configurationInput.params ?? {};
    try {
      checkStage(this.#aws.getStage(), Object.keys(stages));
    } catch (error) {
      this.#fail((error as Error).message);
    }
    if (!this.#isOneOf(remoteCommands)) return;
    try {
      await this.#aws.getAccountId();
    } catch (error) {
      this.#fail(`AWS cannot be used with these credentials: ${firstLine(error)}`);
    }
  }

  async #readSettings(): Promise<ReadonlyMap<string, string>> {
    const stage = this.#aws.getStage();
    try {
      return await readSettings(stage, await this.#aws.getAwsSdkV3Config());
    } catch (error) {
      const path = `${settingsPath(stage)}/*`;
      this.#fail(`The settings ${path} in Parameter Store cannot be read: ${firstLine(error)}`);
    }
  }

  #completeTemplate(): void {
    const { custom, provider } = this.#serverless.service;
    const { compiledCloudFormationTemplate: template, environment } = provider;
    const { permissionsBoundary, requestsPerAddress, listConcurrency } = custom.stage;
    const headers = environment.CORS_ORIGIN === '' ? {} : corsHeaders(environment.CORS_ORIGIN);
    const responses = createGatewayResponses(headers, requestsPerAddress !== '');
    Object.assign(template.Resources, responses);
    completeDeployment(template, Object.keys(responses));
    for (const { parameter, Resources, Outputs } of custom.optional) {
      if (parameter === '') continue;
      Object.assign(template.Resources, Resources);
      Object.assign(template.Outputs, Outputs);
    }
    const list = template.Resources.ListBooksLambdaFunction;
    if (listConcurrency !== '' && list)
      list.Properties.ReservedConcurrentExecutions = Number(listConcurrency);
    if (permissionsBoundary === '') return;
    for (const { Type, Properties } of Object.values(template.Resources)) {
      if (Type === 'AWS::IAM::Role') Properties.PermissionsBoundary = permissionsBoundary;
    }
  }

  /** The framework has no setting for it. CloudFormation finds a table that the template names, by its name. */
  #adoptRetainedTable(): void {
    const plugins = this.#serverless.pluginManager.plugins.filter(makesChangeSets);
    if (plugins.length === 0) throw new Error('the framework has no plugin that makes change sets');
    for (const plugin of plugins) {
      const getParams = plugin.getCreateChangeSetParams.bind(plugin);
      plugin.getCreateChangeSetParams = (options) => ({
        ...getParams(options),
        ImportExistingResources: true,
      });
    }
  }

  /** The template of an earlier version would use the table that the stage had then. */
  async #keepRestoredTable(): Promise<void> {
    const { parameters } = (await this.#findStack()) ?? {};
    if (!parameters?.RestoredTable) return;
    this.#serverless.service.provider.stackParameters = [
      { ParameterKey: 'RestoredTable', UsePreviousValue: true },
    ];
  }

  async #setRollbackTriggers(): Promise<void> {
    const { custom, provider } = this.#serverless.service;
    const minutes = Number(custom.stage.monitoringMinutes);
    const config = await this.#aws.getAwsSdkV3Config();
    const stack = await this.#findStack();
    provider.rollbackConfiguration = await findRollbackTriggers(stack, minutes, config);
  }

  #fail(message: string): never {
    throw new this.#serverless.classes.Error(message);
  }
}

function makesChangeSets(plugin: object): plugin is ChangeSetPlugin {
  return 'getCreateChangeSetParams' in plugin;
}

/**
 * A deployment is a snapshot of the API as CloudFormation has made it by then; the framework makes it wait for methods
 * only. Its `StageName` would create a second stage beside serverless/resources/stage.yml.
 */
function completeDeployment({ Resources }: Template, gatewayResponses: readonly string[]): void {
  for (const resource of Object.values(Resources)) {
    if (resource.Type !== 'AWS::ApiGateway::Deployment') continue;
    resource.DependsOn = [...(resource.DependsOn ?? []), ...gatewayResponses];
    delete resource.Properties.StageName;
  }
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n', 1)[0] ?? '';
}
