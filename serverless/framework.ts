/** What the plugins use of the Serverless Framework (osls), whose own types describe serverless.yml alone. */

export interface Serverless {
  readonly serviceDir: string;
  readonly configurationFilename: string;
  /** The configuration file as it is, with the variables that are resolved so far. */
  readonly configurationInput: { readonly params?: Readonly<Record<string, unknown>> };
  readonly processedInput: { readonly commands: readonly string[] };
  readonly service: Service;
  /** The framework prints the message of this error without a stack and ends with exit code 1. */
  readonly classes: { readonly Error: ErrorConstructor };
  readonly pluginManager: { readonly plugins: readonly object[] };
  getProvider(name: 'aws'): AwsProvider;
}

/** serverless.yml with all variables resolved. */
export interface Service {
  readonly service: string;
  readonly custom: { readonly stage: StageParameters; readonly optional: readonly OptionalPart[] };
  readonly provider: {
    readonly architecture: string;
    readonly runtime: string;
    /** In seconds. */
    readonly timeout?: number;
    readonly environment: { readonly CORS_ORIGIN: string };
    readonly compiledCloudFormationTemplate: Template;
    rollbackConfiguration?: object;
    stackParameters?: readonly object[];
  };
  readonly functions: Readonly<Record<string, FunctionDefinition>>;
}

/** Third argument of a plugin's constructor. */
export interface PluginUtils {
  readonly log: { readonly notice: (message: string) => void };
}

/** A part of the template that is there when its parameter is not empty. */
interface OptionalPart extends Partial<Template> {
  readonly parameter: string | number;
}

/** The parameters of serverless/stages.yml that the plugins use; an unset one is empty. */
export type StageParameters = Readonly<
  Record<
    | 'domainName'
    | 'certificateArn'
    | 'hostedZoneId'
    | 'permissionsBoundary'
    | 'tableName'
    | 'alarmEmail'
    | 'probe',
    string
  > &
    Record<
      | 'requestsPerAddress'
      | 'monitoringMinutes'
      | 'monthlyBudget'
      | 'listConcurrency'
      | 'throttlingBurstLimit',
      string | number
    >
>;

export interface FunctionDefinition {
  /** Path of the module without its extension, a dot, the name of the export. */
  readonly handler: string;
  /** In seconds. */
  readonly timeout?: number;
  readonly events?: readonly { http?: string | HttpEvent }[];
  package?: { readonly artifact: string };
}

/** An HTTP event; the short form is a text like `GET /books`. */
export interface HttpEvent {
  readonly method: string;
  readonly path: string;
  readonly cors?: { readonly origin: string; readonly headers: readonly string[]; readonly maxAge: number };
}

export interface Template {
  readonly Resources: Record<string, Resource>;
  readonly Outputs: Record<string, unknown>;
}

interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  DependsOn?: string[];
}

interface AwsProvider {
  getStage(): string;
  getRegion(): string;
  getAccountId(): Promise<string>;
  /** Region and credentials for a client of the SDK, as the options and the environment say. */
  getAwsSdkV3Config(): Promise<object>;
}

export type Hooks = Readonly<Record<string, () => Promise<void> | void>>;

/** Reads an HTTP event in its short form or its long one; the path gets a leading slash. */
export function readHttpEvent(http: string | HttpEvent): HttpEvent {
  if (typeof http !== 'string') {
    return { ...http, method: http.method.toUpperCase(), path: `/${http.path.replace(/^\//, '')}` };
  }
  const [method = '', path = ''] = http.split(' ');
  return readHttpEvent({ method, path });
}
