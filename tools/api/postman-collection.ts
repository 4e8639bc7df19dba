import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The folder of the service. */
export const projectFolder = resolve(import.meta.dirname, '../..');

/** Members that change with each conversion, or that no request needs: all but one use the token of the collection. */
const omitted = ['id', '_postman_id', 'response', 'auth', 'event', 'protocolProfileBehavior'];

/** The token, and the book that was created, fetched or changed last. */
const variables = { token: '', bookId: '1', etag: '*' };

const apiKey = { in: 'header', key: 'Authorization', value: '{{token}}' };

/** Runs after each response. `data` is a name of the sandbox's own, and a 304 has no body. */
const storeVariables = [
  "if (pm.response.headers.has('ETag')) pm.collectionVariables.set('etag', pm.response.headers.get('ETag'));",
  'const result = pm.response.code < 300 ? pm.response.json().data : null;',
  "if (result?.token) pm.collectionVariables.set('token', result.token);",
  "if (result?.id) pm.collectionVariables.set('bookId', result.id);",
];

/** Headers with a value of use to everybody. */
const headerValues: Readonly<Record<string, object>> = {
  'Idempotency-Key': { value: '{{$guid}}' },
  'If-Match': { value: '{{etag}}', disabled: true },
  'If-None-Match': { value: '{{etag}}', disabled: true },
  'Accept-Encoding': { value: 'gzip', disabled: true },
};

/**
 * Makes a collection for Postman, Bruno and their like. Its requests can be sent from top to bottom: the login keeps the
 * token for the others, and the created book is the one that is fetched, changed and deleted.
 */
export async function makePostmanCollection(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'book-catalog-'));
  try {
    const file = join(folder, 'collection.json');
    const options = 'parametersResolution=Example,folderStrategy=Tags,includeAuthInfoInExample=false';
    await runTool('openapi2postmanv2', ['-s', 'openapi.yaml', '-o', file, '-O', options]);
    const { item, variable, ...rest } = JSON.parse(await readFile(file, 'utf8'), adapt);
    const collection = {
      ...rest,
      item,
      event: [{ listen: 'test', script: { type: 'text/javascript', exec: storeVariables } }],
      auth: {
        type: 'apikey',
        apikey: Object.entries(apiKey).map(([key, value]) => ({ key, value, type: 'string' })),
      },
      variable: [...variable, ...Object.entries(variables).map(([key, value]) => ({ key, value }))],
    };
    return `${JSON.stringify(collection, null, 2)}\n`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Parameter = { readonly key: string };

/** A reviver of JSON. Query parameters are optional, to be switched on and filled in; the converter invents values. */
function adapt(member: string, value: unknown): unknown {
  if (omitted.includes(member)) return undefined;
  const change = (toChange: (parameter: Parameter) => object | undefined) =>
    (value as readonly Parameter[]).map((parameter) => ({ ...parameter, ...toChange(parameter) }));
  if (member === 'query') return change(() => ({ value: '', disabled: true }));
  if (member === 'variable') return change(({ key }) => (key === 'id' ? { value: '{{bookId}}' } : undefined));
  if (member === 'header') return change(({ key }) => headerValues[key]);
  const isLogin = member === 'request' && (value as { readonly name?: string }).name === 'Log in';
  return isLogin ? { ...(value as object), auth: { type: 'noauth' } } : value;
}

/** Runs a command of a package in tools/api/package.json. @returns its standard output */
export async function runTool(name: string, args: readonly string[], cwd = projectFolder): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const file = join(import.meta.dirname, 'node_modules/.bin', name);
  try {
    return (await promisify(execFile)(process.execPath, [file, ...args], { cwd, env })).stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${name} failed:\n${stdout}${stderr}`, { cause });
  }
}
