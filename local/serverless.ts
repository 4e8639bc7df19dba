/** The part of the Serverless Framework's `serverless` object that a plugin here uses. */
export interface Serverless {
  readonly serviceDir: string;
  readonly service: {
    readonly custom: Readonly<Record<string, unknown>>;
    readonly provider: Configurable;
    readonly functions: Readonly<Record<string, FunctionDefinition>>;
  };
  readonly classes: {
    /** What the framework prints as a plain message, without a stack, and ends with exit code 1. */
    readonly Error: new (
      message: string,
    ) => Error;
  };
}

/** What has environment variables in serverless.yml. */
interface Configurable {
  readonly environment?: Record<string, unknown>;
}

/** A function of serverless.yml. */
interface FunctionDefinition extends Configurable {
  /** Path of the module without its extension, a dot, the name of the export. */
  readonly handler: string;
}
