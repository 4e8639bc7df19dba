import { createRequire } from 'node:module';
import { promisify } from 'node:util';

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
};

/**
 * Makes a collection for Postman, Bruno and their like. Its requests can be sent from top to bottom: the login keeps the
 * token for the others, and the created book is the one that is fetched, changed and deleted.
 *
 * @param description - the text of openapi.yaml
 */
export async function makePostmanCollection(description: string): Promise<string> {
  const converter = createRequire(import.meta.url)('openapi-to-postmanv2');
  const source = { type: 'string', data: description };
  const options = { parametersResolution: 'Example', folderStrategy: 'Tags' };
  const { output, reason } = await promisify(converter.convertV2)(source, options);
  if (output === undefined) throw new Error(`openapi.yaml cannot be converted: ${reason}`);
  const { item, variable, ...rest } = JSON.parse(JSON.stringify(output[0].data), adapt);
  const collection = {
    ...rest,
    item,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: storeVariables } }],
    auth: { type: 'apikey', apikey: Object.entries(apiKey).map(([key, value]) => ({ key, value, type: 'string' })) },
    variable: [...variable, ...Object.entries(variables).map(([key, value]) => ({ key, value }))],
  };
  return `${JSON.stringify(collection, null, 2)}\n`;
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
