import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { parse } from 'yaml';
import { createFunctionLoader } from '../../serverless/local/functions/function-loader.ts';
import { createGateway } from '../../serverless/local/gateway/gateway.ts';
import { startAnew } from './load-handlers.ts';
import { defaultCredentials, testSettings } from './local-service.ts';
import { close, listen } from './loopback-server.ts';

const projectFolder = resolve(import.meta.dirname, '../..');
const definition = parse(readFileSync(join(projectFolder, 'serverless.yml'), 'utf8'), { logLevel: 'silent' });

/**
 * Serves the functions from this process until the tests of the file are over, behind the gateway of `npm start`. Unlike
 * those of a service in a process of its own, coverage and mutants see them. The username and the password are the defaults
 * of `npm start`.
 *
 * @param databaseUrl - DB_URL
 * @param optional - settings that have a default
 */
export async function serveFunctions(databaseUrl: string, optional: Readonly<Record<string, string>> = {}) {
  const { CORS_ORIGIN: corsOrigin, TOKEN_LIFETIME } = optional;
  const given = { DB_URL: databaseUrl, CORS_ORIGIN: corsOrigin, TOKEN_LIFETIME };
  startAnew({ ...testSettings, ...defaultCredentials, ...given });
  const functions = await createFunctionLoader(projectFolder)(definition);
  const log = { logRequest() {}, logWarning() {}, logError: console.error };
  const gateway = createGateway({ functions: () => functions, host: '127.0.0.1', corsOrigin, log });
  const port = await listen(gateway);
  afterAll(() => close(gateway));
  return { port, baseUrl: `http://127.0.0.1:${port}` };
}
