declare module 'dynalite/db/index.js' {
  import type { Readable, Stream } from 'node:stream';
  import type { AttributeValue } from '@aws-sdk/client-dynamodb';

  export type Item = Record<string, AttributeValue>;
  export type Callback<Value = unknown> = (error?: Error | null, value?: Value) => void;

  /** An error that is a response of DynamoDB. */
  export interface EngineError extends Error {
    readonly statusCode: number;
    readonly body: { readonly __type?: string; readonly message?: string; Item?: Item | undefined };
  }

  interface Lockable {
    /** Runs a function once no other one holds one of the keys, until the function that its `release` makes is called. */
    lock: (keys: readonly string[], run: (release: <Done>(done: Done) => Done) => void) => void;
  }

  export interface Store {
    readonly options: { readonly maxItemSize: number };
    readonly db: {
      open(): Promise<void>;
      close(): Promise<void>;
      getSync(key: string): unknown;
      get(key: string, done: Callback): void;
      values(range: object): AsyncIterable<unknown>;
      createValueStream(range: object): Stream;
    };
    readonly tableDb: Lockable;
    getTable(name: string, done: (error?: unknown, table?: object) => void): void;
    /** The items of one table. */
    getItemDb(name: string): Lockable & {
      get(key: string, done: Callback<Item>): void;
      put(key: string, item: Item, done: Callback): void;
      batch(operations: readonly { readonly key: string; readonly value: Item }[], done: Callback): void;
      createValueStream(range: Readonly<Partial<Record<'gt' | 'gte' | 'lt' | 'lte', string>>>): Readable;
    };
  }

  const db: {
    /**
     * @param options - `path`: the folder of the data, which is in memory without it; `createTableMs`: how long a table
     *   is CREATING
     */
    create(options: { readonly path?: string; readonly createTableMs: number }): Store;
    createKey(item: Item, table: object): string;
    validateItem(item: Item, table: object): EngineError | undefined;
    validationError(message: string): EngineError;
    checkConditional(
      request: Readonly<Record<string, unknown>>,
      stored: Item | undefined,
    ): EngineError | null | undefined;
  };
  export default db;
}

declare module 'dynalite/validations/index.js' {
  const validations: {
    checkTypes(data: object, types: object): object;
    /** Parses the expressions of a request. @throws {EngineError} when it is not valid */
    checkValidations(data: object, types: object, custom: unknown, store: object): void;
  };
  export default validations;
}

declare module 'dynalite/validations/*.js' {
  export const types: Record<string, object>;
  export const custom: unknown;
}

declare module 'dynalite/actions/*.js' {
  import type { Callback, Item, Store } from 'dynalite/db/index.js';

  /** The members of a response that some operation has. */
  export interface Output {
    readonly Item?: Item;
    readonly Attributes?: Item;
    readonly Count?: number;
    readonly Items?: readonly Item[];
    readonly LastEvaluatedKey?: Item;
  }

  /** Carries out a request that is valid, with parsed expressions. */
  const action: (store: Store, request: object, done: Callback<Output>) => void;
  export default action;
}
