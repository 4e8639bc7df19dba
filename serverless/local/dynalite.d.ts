declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface DynaliteOptions {
    /** Folder of the LevelDB store; in memory without it. */
    readonly path?: string;
    /** How long a new table stays in CREATING, in milliseconds. */
    readonly createTableMs?: number;
  }

  /** A DynamoDB engine behind an HTTP server that does not listen yet. */
  export default function dynalite(options?: DynaliteOptions): Server;
}
