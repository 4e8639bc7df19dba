declare module 'dynalite' {
  import type { Server } from 'node:http';

  /**
   * Makes a DynamoDB engine behind an HTTP server that does not listen yet.
   *
   * @param options - `path`, the folder of its data, in memory without it; `createTableMs`, how long a table is CREATING
   */
  export default function dynalite(options?: { path?: string; createTableMs?: number }): Server;
}
