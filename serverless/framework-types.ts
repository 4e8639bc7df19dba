/** What the plugins use of the Serverless Framework (osls), whose own types describe serverless.yml alone. */

import type { StageParameters } from './deploy/stage-parameters.ts';

export interface Serverless {
  readonly serviceDir: string;
  readonly configurationFilename: string;
  readonly processedInput: { readonly commands: readonly string[]; readonly isHelpRequest?: boolean };
  readonly service: Service;
  /** The framework prints the message of this error without a stack and ends with exit code 1. */
  readonly classes: { readonly Error: ErrorConstructor };
  readonly configSchemaHandler: { defineFunctionProperties(provider: 'aws', schema: object): void };
  readonly pluginManager: { readonly plugins: readonly object[] };
  getProvider(name: 'aws'): AwsProvider;
}

/** serverless.yml with all variables resolved. */
export interface Service {
  readonly service: string;
  readonly custom: {
    readonly parameters: StageParameters & Readonly<Record<string, unknown>>;
    /** Parts of the template that are there when their parameter is not empty. */
    readonly optionalParts: Readonly<Record<string, Partial<Template>>>;
  };
  readonly provider: {
    /** In seconds. */
    readonly timeout: number;
    readonly environment?: FunctionEnvironment;
    readonly compiledCloudFormationTemplate: Template;
    rollbackConfiguration?: object;
    stackParameters?: readonly object[];
  };
  readonly functions: Record<string, FunctionDefinition>;
}

/** Third argument of a plugin's constructor. */
export interface PluginUtils {
  readonly log: { readonly notice: (message: string) => void };
}

/** Variables by name: texts, or references of CloudFormation. */
type FunctionEnvironment = Readonly<Record<string, unknown>>;

export interface FunctionDefinition {
  /** Path of the module without its extension, a dot, the name of the export. */
  readonly handler: string;
  /** In seconds. */
  readonly timeout?: number;
  readonly environment?: FunctionEnvironment;
  /** Its actions on the book table, like `GetItem`. */
  readonly tableActions?: readonly string[];
  readonly events?: readonly { http?: string | HttpEvent }[];
  package?: { readonly artifact: string };
  role?: object;
}

/** An HTTP event. Its short form is a text like `GET /books`. */
export interface HttpEvent {
  readonly method: string;
  readonly path: string;
  /** How long API Gateway waits for the function, if not 29 s. */
  readonly timeoutInMillis?: number;
  readonly cors?: { readonly origin: string; readonly headers: readonly string[]; readonly maxAge: number };
}

export interface Template {
  readonly Resources: Record<string, Resource>;
  readonly Outputs: Record<string, unknown>;
}

interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  DependsOn?: string | string[];
}

interface AwsProvider {
  getStage(): string;
  getRegion(): string;
  getAccountId(): Promise<string>;
  /** Region and credentials for a client of the SDK, as the options and the environment say. */
  getAwsSdkV3Config(): Promise<object>;
}

/** By event. That of `error` gets the error that has ended the command. */
export type Hooks = Readonly<Record<string, (error?: NodeJS.ErrnoException) => Promise<void> | void>>;
