import { createAddressLimit, findAddressLimitProblem } from './address-limit.ts';
import { answerPreflights, type FunctionDefinition, readableHeaders } from './cors.ts';
import { createDomain, type DomainParameters, findDomainProblem } from './domain.ts';
import { createGatewayResponses } from './gateway-responses.ts';
import { findRollbackTriggers, noRollbackTriggers } from './rollback-triggers.ts';
import { readSettings, settingsPath } from './settings.ts';

/** The part of the Serverless Framework's `serverless` object that this plugin uses. */
interface Serverless {
  readonly configurationInput: { readonly params?: Readonly<Record<string, unknown>> };
  readonly processedInput: { readonly commands: readonly string[] };
  readonly service: {
    readonly service: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly custom: { readonly stage: StageParameters };
    readonly provider: {
      readonly compiledCloudFormationTemplate: Template;
      readonly environment: { readonly CORS_ORIGIN: string };
      rollbackConfiguration?: object;
    };
    readonly functions: Readonly<Record<string, FunctionDefinition>>;
  };
  readonly classes: {
    /** What the framework prints as a plain message, without a stack, and ends with exit code 1. */
    readonly Error: new (
      message: string,
    ) => Error;
  };
  readonly pluginManager: { readonly plugins: readonly object[] };
  getProvider(name: 'aws'): AwsProvider;
}

/** Parameters of serverless/stages.yml for what is in the template only when they are set. */
interface StageParameters extends DomainParameters {
  readonly requestsPerAddress: string | number;
  readonly permissionsBoundary: string;
  readonly monitoringMinutes: string | number;
}

interface AwsProvider {
  getStage(): string;
  getRegion(): string;
  getAccountId(): Promise<string>;
  /** Region and credentials, as the options and the environment say. */
  getAwsSdkV3Config(): Promise<SdkConfig>;
}

type SdkConfig = Parameters<typeof readSettings>[1] & Parameters<typeof findRollbackTriggers>[2];

/** A CloudFormation template. */
interface Template {
  readonly Resources: Record<string, Resource>;
  readonly Outputs: Record<string, Output | undefined>;
}

interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  DependsOn?: string[];
}

interface Output {
  readonly Description?: string;
  readonly Value: unknown;
}

/** The framework's own plugin that deploys, as far as a change set goes. */
interface ChangeSetMaker {
  getCreateChangeSetParams(options: unknown): Record<string, unknown>;
}

interface PluginOptions {
  readonly region?: string;
}

interface PluginUtilities {
  readonly log: { readonly notice: (message: string) => void };
}

/** The commands that talk to AWS. */
const remoteCommands = new Set(['deploy', 'remove', 'rollback', 'info']);

/**
 * Serverless plugin for what the framework leaves open about the stack:
 *
 * - a stage, a region or credentials that are wrong or missing end a command before it does anything;
 * - the API's deployment is a snapshot that holds every gateway response, and makes no stage of its own;
 * - `${setting:NAME}` is a setting of the stage (serverless/deploy/settings.ts) in a deploy, and nothing otherwise;
 * - the roles have a permissions boundary when its parameter is set;
 * - an update is taken back when an alarm of errors goes off (serverless/deploy/rollback-triggers.ts), but no rollback is;
 * - a domain of its own and a limit per client address are in the template when their parameters are set;
 * - with an origin in the parameter `corsOrigin`, browsers may call the API from there, otherwise from nowhere;
 * - a table that a removed stack left behind is adopted, with its books, by the next deploy.
 */
export default class InfrastructurePlugin {
  readonly hooks: Readonly<Record<string, () => Promise<void> | void>>;
  readonly configurationVariablesSources = {
    setting: { resolve: ({ address }: { readonly address: string }) => this.#resolveSetting(address) },
  };
  readonly #serverless: Serverless;
  readonly #options: PluginOptions;
  readonly #log: PluginUtilities['log'];
  /** The names in `${setting:NAME}`. */
  readonly #settingNames = new Set<string>();
  #targetCheck: Promise<void> | undefined;
  #settings: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(serverless: Serverless, options: PluginOptions, { log }: PluginUtilities) {
    this.#serverless = serverless;
    this.#options = options;
    this.#log = log;
    // The zips hold the modes of the bundles, which Lambda's user has to be able to read, and the same on each machine.
    process.umask(0o022);
    this.hooks = {
      initialize: () => this.#checkAll(),
      'before:package:compileEvents': () => this.#answerPreflights(),
      'after:aws:package:finalize:mergeCustomProviderResources': () => this.#completeTemplate(),
      'before:aws:deploy:deploy:createStack': () => {
        this.#adoptRetainedTable();
        return this.#setRollbackTriggers();
      },
      'before:rollback:rollback': () => {
        this.#serverless.service.provider.rollbackConfiguration = noRollbackTriggers;
      },
      'after:remove:remove': () => this.#tellWhatIsKept(),
    };
  }

  async #checkAll(): Promise<void> {
    this.#targetCheck ??= this.#checkTarget();
    await this.#targetCheck;
    await this.#checkSettings();
    this.#checkParameters();
  }

  async #checkTarget(): Promise<void> {
    const { classes, processedInput } = this.#serverless;
    this.#checkStage();
    if (!remoteCommands.has(processedInput.commands[0] ?? '')) return;
    const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
    if (!(this.#options.region || AWS_REGION || AWS_DEFAULT_REGION)) {
      throw new classes.Error('No region is given: set AWS_REGION, or add --region NAME.');
    }
    try {
      await this.#serverless.getProvider('aws').getAccountId();
    } catch (error) {
      throw new classes.Error(`AWS cannot be used with these credentials: ${firstLine(error)}`);
    }
  }

  #checkStage(): void {
    const { default: _, ...stages } = this.#serverless.configurationInput.params ?? {};
    const stage = this.#serverless.getProvider('aws').getStage();
    if (stage in stages) return;
    throw new this.#serverless.classes.Error(
      `There is no stage "${stage}". The stages are ${Object.keys(stages).join(', ')} (serverless/stages.yml).`,
    );
  }

  /** The framework wraps what is thrown here in its own words, so #checkAll tells it, in one line. */
  async #resolveSetting(name: string): Promise<{ readonly value: string | null }> {
    this.#settingNames.add(name);
    if (this.#serverless.processedInput.commands[0] !== 'deploy') return { value: null };
    this.#targetCheck ??= this.#checkTarget();
    this.#settings ??= this.#targetCheck.then(() => this.#readSettings());
    try {
      return { value: (await this.#settings).get(name) ?? null };
    } catch {
      return { value: null };
    }
  }

  async #readSettings(): Promise<ReadonlyMap<string, string>> {
    const provider = this.#serverless.getProvider('aws');
    try {
      return await readSettings(provider.getStage(), await provider.getAwsSdkV3Config());
    } catch (error) {
      throw new this.#serverless.classes.Error(
        `The settings ${settingsPath(provider.getStage())}/* in Parameter Store cannot be read: ${firstLine(error)}`,
      );
    }
  }

  async #checkSettings(): Promise<void> {
    const settings = await this.#settings;
    const path = settingsPath(this.#serverless.getProvider('aws').getStage());
    for (const name of settings?.keys() ?? []) {
      if (this.#settingNames.has(name)) continue;
      throw new this.#serverless.classes.Error(
        `${path}/${name} in Parameter Store is no setting. Settings are ${[...this.#settingNames].join(', ')}.`,
      );
    }
  }

  #checkParameters(): void {
    const { requestsPerAddress, monitoringMinutes, ...domain } = this.#serverless.service.custom.stage;
    const problem =
      findDomainProblem(domain, this.#serverless.getProvider('aws').getRegion()) ??
      findAddressLimitProblem(String(requestsPerAddress)) ??
      findMonitoringProblem(String(monitoringMinutes));
    if (problem !== undefined) throw new this.#serverless.classes.Error(problem);
  }

  #answerPreflights(): void {
    const { functions, provider } = this.#serverless.service;
    const { CORS_ORIGIN } = provider.environment;
    if (CORS_ORIGIN !== '') answerPreflights(Object.values(functions), CORS_ORIGIN);
  }

  #completeTemplate(): void {
    const { custom, provider, service } = this.#serverless.service;
    const { compiledCloudFormationTemplate: template, environment } = provider;
    const { requestsPerAddress, permissionsBoundary, ...domain } = custom.stage;
    const limitsAddresses = requestsPerAddress !== '';
    const { CORS_ORIGIN } = environment;
    const headers = CORS_ORIGIN === '' ? {} : readableHeaders(CORS_ORIGIN);
    Object.assign(
      template.Resources,
      createGatewayResponses({ headers, limitsAddresses }),
      domain.domainName !== '' && createDomain(domain),
      limitsAddresses &&
        createAddressLimit(
          `${service}-${this.#serverless.getProvider('aws').getStage()}`,
          String(requestsPerAddress),
        ),
    );
    completeDeployment(template);
    if (permissionsBoundary !== '') attachBoundary(template, permissionsBoundary);
    if (CORS_ORIGIN !== '') {
      template.Outputs.CorsOrigin = {
        Description: 'The web site whose scripts may call the API',
        Value: CORS_ORIGIN,
      };
    }
    if (domain.domainName !== '') addDomainOutputs(template, domain.domainName);
  }

  /** The framework has no setting for it. Only a table that the template names is found, and only by its name. */
  #adoptRetainedTable(): void {
    for (const plugin of this.#serverless.pluginManager.plugins) {
      if (plugin.constructor.name !== 'AwsDeploy') continue;
      const deployer = plugin as ChangeSetMaker;
      const getParams = deployer.getCreateChangeSetParams.bind(deployer);
      deployer.getCreateChangeSetParams = (options) => ({
        ...getParams(options),
        ImportExistingResources: true,
      });
    }
  }

  async #setRollbackTriggers(): Promise<void> {
    const { custom, provider, service } = this.#serverless.service;
    const aws = this.#serverless.getProvider('aws');
    provider.rollbackConfiguration = await findRollbackTriggers(
      `${service}-${aws.getStage()}`,
      Number(custom.stage.monitoringMinutes),
      await aws.getAwsSdkV3Config(),
    );
  }

  #tellWhatIsKept(): void {
    const table = `${this.#serverless.service.service}-${this.#serverless.getProvider('aws').getStage()}`;
    this.#log.notice(
      `The table ${table} is kept, with its books: the next deploy of this stage uses it again.`,
    );
  }
}

/**
 * A deployment is a snapshot of the API, and what CloudFormation has not made by then is not in it. The framework
 * thinks of the methods only. Its `StageName` would make a stage besides the one in serverless/resources/stage.yml.
 */
function completeDeployment({ Resources }: Template): void {
  const gatewayResponses = Object.keys(Resources).filter(
    (id) => Resources[id]?.Type === 'AWS::ApiGateway::GatewayResponse',
  );
  for (const resource of Object.values(Resources)) {
    if (resource.Type !== 'AWS::ApiGateway::Deployment') continue;
    resource.DependsOn = [...(resource.DependsOn ?? []), ...gatewayResponses];
    delete resource.Properties.StageName;
  }
}

/** The limit is CloudFormation's ("RollbackConfiguration"). */
function findMonitoringProblem(minutes: string): string | undefined {
  if (/^\d{1,3}$/.test(minutes) && Number(minutes) <= 180) return undefined;
  return 'monitoringMinutes has to be a whole number of minutes, 0 to 180.';
}

function attachBoundary({ Resources }: Template, boundary: string): void {
  for (const { Type, Properties } of Object.values(Resources)) {
    if (Type === 'AWS::IAM::Role') Properties.PermissionsBoundary = boundary;
  }
}

/** The framework prints `ServiceEndpoint` after a deploy; the smoke test goes there. */
function addDomainOutputs({ Outputs }: Template, domainName: string): void {
  Outputs.ExecuteApiEndpoint = {
    Description: 'The address of the API at AWS',
    Value: Outputs.ServiceEndpoint?.Value,
  };
  Outputs.ServiceEndpoint = { Description: 'The address of the API', Value: `https://${domainName}` };
  Outputs.DomainTarget = {
    Description: 'What the domain name has to lead to, where no hosted zone is given: a CNAME record',
    Value: { 'Fn::GetAtt': ['ApiDomainName', 'RegionalDomainName'] },
  };
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n', 1)[0] ?? '';
}
