/**
 * `npm run docs -- [--base-url URL] [--port N] [--build]`: makes docs/api.html, and serves it until Ctrl-C unless asked
 * only to build it.
 */

import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeReferencePage } from './reference-page.ts';
import { projectFolder } from './run-tool.ts';

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string', default: 'http://localhost:8080' },
    port: { type: 'string', default: '8081' },
    build: { type: 'boolean' },
  },
});

const file = join(projectFolder, 'docs/api.html');
const page = await makeReferencePage(values['base-url'].replace(/\/$/, ''));
await writeFile(file, page);
console.log(`wrote docs/api.html`);

if (!values.build) {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(page);
  });
  server.listen(Number(values.port), '127.0.0.1', () => {
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
    console.log(`The reference page is at ${origin}`);
    console.log(`To try requests from it, start the service with: CORS_ORIGIN=${origin} npm start`);
  });
}
