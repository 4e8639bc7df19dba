/**
 * `node make-code-cache.ts BUNDLE CACHE` loads a bundle as Lambda's INIT phase does and stores what V8 compiled, followed by
 * the CRC-32 of both files (4 bytes, little endian).
 */

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const [bundle = '', cache = ''] = process.argv.slice(2);

// Without a listener Node would print the line of the error, which is most of a bundle.
process.once('uncaughtException', ({ stack }) => {
  process.stderr.write(`${stack}\n`);
  process.exit(1);
});

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

const code = readFileSync(bundle);
const script = new Script(code.toString('latin1'), { filename: bundle });
await script.runInThisContext()();
const compiled = script.createCachedData();
const checksum = Buffer.alloc(4);
checksum.writeUInt32LE(crc32(compiled, crc32(code)));
writeFileSync(cache, Buffer.concat([compiled, checksum]));
process.exit();
