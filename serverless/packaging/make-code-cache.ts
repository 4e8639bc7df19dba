/** `node make-code-cache.ts BUNDLE CACHE` loads a bundle as Lambda's INIT phase does and stores what V8 compiled. */

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Script } from 'node:vm';

const [bundle = '', cache = ''] = process.argv.slice(2);

// The table responds `{}` to everything.
const database = createServer((_request, response) => response.end('{}'));
database.listen(0, '127.0.0.1');
await once(database, 'listening');
const { port } = database.address() as AddressInfo;

Object.assign(process.env, {
  SECRET_TOKEN: 'secret',
  AUTH_USERNAME: 'username',
  AUTH_PASSWORD: 'password',
  DB_URL: `http://127.0.0.1:${port}/books`,
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'key',
});
// What Lambda's runtime provides.
Object.assign(globalThis, { awslambda: { streamifyResponse: (handler: unknown) => handler } });

const script = new Script(readFileSync(bundle, 'latin1'), { filename: bundle });
await script.runInThisContext()();
writeFileSync(cache, script.createCachedData());
process.exit();
