/** The part of the Serverless Framework's `serverless` object that a plugin here uses. */
export interface Serverless {
  readonly serviceDir: string;
  /** The name of the file that the service is defined in. */
  readonly configurationFilename: string;
  readonly service: ServiceDefinition;
  readonly classes: {
    /** What the framework prints as a plain message, without a stack, and ends with exit code 1. */
    readonly Error: new (
      message: string,
    ) => Error;
  };
}

/** The part of serverless.yml that the local service uses. */
export interface ServiceDefinition {
  readonly provider: { readonly timeout?: number };
  readonly functions: Readonly<Record<string, FunctionDefinition>>;
}

/** A function of serverless.yml. */
export interface FunctionDefinition {
  /** Path of the module without its extension, a dot, the name of the export. */
  readonly handler: string;
  /** In seconds. */
  readonly timeout?: number;
  readonly events?: readonly {
    readonly http?: string | { readonly method: string; readonly path: string };
  }[];
}

/** A command that a plugin adds. */
export interface Command {
  readonly usage: string;
  readonly lifecycleEvents: readonly string[];
  readonly options: Readonly<
    Record<string, { readonly usage: string; readonly type: 'string'; readonly default?: string }>
  >;
}
