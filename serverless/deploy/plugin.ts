import { type Hooks, type PluginUtils, type Serverless, toLogicalId } from '../framework.ts';
import { findQuotaProblem } from './concurrency-quota.ts';
import { addPreflights, corsHeaders } from './cors.ts';
import { createGatewayResponses } from './gateway-responses.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { readSettings, settingsPath } from './settings.ts';
import { findObstacle, findStack, stackNameOf } from './stack.ts';
import { findParameterProblem } from './stage-parameters.ts';
import { findRegion, findStageProblem, noRegion } from './target.ts';

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
 * - each function has the role that serverless/resources/roles.js makes from its `tableActions`;
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
    const actions = { type: 'array', items: { type: 'string' } };
    serverless.configSchemaHandler.defineFunctionProperties('aws', { properties: { tableActions: actions } });
    this.hooks = {
      initialize: () => {
        // Otherwise the framework ends at the first failed resource, while CloudFormation is still rolling the update
        // back. It does not print more by this.
        options.verbose = true;
        return this.#check();
      },
      'before:package:initialize': () => this.#completeFunctions(),
      'after:aws:package:finalize:mergeCustomProviderResources': () => this.#completeTemplate(),
      'before:aws:deploy:deploy:createStack': async () => {
        this.#adoptRetainedTable();
        const minutes = Number(this.#parameters.monitoringMinutes);
        const config = await this.#aws.getAwsSdkV3Config();
        const triggers = await findRollbackTriggers(await this.#findStack(), minutes, config);
        serverless.service.provider.rollbackConfiguration = triggers;
      },
      'after:deploy:deploy': async () => {
        const burst = Number(this.#parameters.throttlingBurstLimit);
        const problem = await findQuotaProblem(burst, await this.#aws.getAwsSdkV3Config());
        if (problem !== undefined) log.notice(problem);
      },
      'before:rollback:rollback': async () => {
        const { provider } = serverless.service;
        provider.rollbackConfiguration = noRollbackTriggers;
        // The template of an earlier version would use the table that the stage had then.
        if (!(await this.#findStack())?.parameters.RestoredTable) return;
        provider.stackParameters = [{ ParameterKey: 'RestoredTable', UsePreviousValue: true }];
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

  async #findObstacle(): Promise<string | undefined> {
    const stack = await this.#findStack();
    return stack && findObstacle(this.#stage, stack.status);
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

  #completeFunctions(): void {
    const { functions } = this.#serverless.service;
    for (const [name, definition] of Object.entries(functions)) {
      if (!definition.tableActions) this.#fail(`${name} has no role: serverless.yml does not say its tableActions.`);
      definition.role = { 'Fn::Sub': `\${${toLogicalId(name)}Role.Arn}` };
    }
    if (this.#parameters.corsOrigin !== '') addPreflights(Object.values(functions), this.#parameters.corsOrigin);
  }

  #completeTemplate(): void {
    const { custom, provider } = this.#serverless.service;
    const { Resources, Outputs } = provider.compiledCloudFormationTemplate;
    const { corsOrigin, permissionsBoundary, requestsPerAddress, listConcurrency } = this.#parameters;
    const headers = corsOrigin === '' ? {} : corsHeaders(corsOrigin);
    const responses = createGatewayResponses(headers, requestsPerAddress !== '');
    Object.assign(Resources, responses);
    for (const [parameter, part] of Object.entries(custom.optional)) {
      if (this.#parameters[parameter as keyof typeof custom.stage] === '') continue;
      Object.assign(Resources, part.Resources);
      Object.assign(Outputs, part.Outputs);
    }
    const list = Resources.ListBooksLambdaFunction;
    if (listConcurrency !== '' && list) list.Properties.ReservedConcurrentExecutions = Number(listConcurrency);
    for (const resource of Object.values(Resources)) {
      if (resource.Type === 'AWS::IAM::Role' && permissionsBoundary !== '') {
        resource.Properties.PermissionsBoundary = permissionsBoundary;
      }
      // A deployment is a snapshot of the API as CloudFormation has made it by then; the framework makes it wait for
      // methods only. Its `StageName` would create a second stage beside serverless/resources/stage.yml.
      if (resource.Type === 'AWS::ApiGateway::Deployment') {
        resource.DependsOn = [...(resource.DependsOn ?? []), ...Object.keys(responses)];
        delete resource.Properties.StageName;
      }
    }
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

  #fail(message: string): never {
    throw new this.#serverless.classes.Error(message);
  }
}
