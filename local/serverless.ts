/** The part of the Serverless Framework's `serverless` object that a plugin here uses. */
export interface Serverless {
  readonly serviceDir: string;
  readonly service: {
    readonly custom: Readonly<Record<string, unknown>>;
    readonly functions: Readonly<Record<string, FunctionDefinition>>;
    readonly resources: { readonly Resources: Readonly<Record<string, { readonly Type: string }>> };
  };
  readonly classes: {
    /** What the framework prints as a plain message, without a stack, and ends with exit code 1. */
    readonly Error: new (
      message: string,
    ) => Error;
  };
}

/** A function of serverless.yml. */
interface FunctionDefinition {
  /** Path of the module without its extension, a dot, the name of the export. */
  readonly handler: string;
  environment?: Record<string, unknown>;
}
