import type { EngineError, Store } from 'dynalite/db/index.js';
import { call, type EngineResponse, putAll, validate } from './dynalite-additions.ts';

/** The operations of dynalite that the service, its tests and its tools use, as its files name them. */
const names = [
  'getItem',
  'putItem',
  'updateItem',
  'deleteItem',
  'batchWriteItem',
  'query',
  'scan',
  'createTable',
  'describeTable',
  'listTables',
];

const operations = new Map(
  await Promise.all(
    names.map(async (name) => {
      const [{ default: action }, rules] = await Promise.all([
        import(`dynalite/actions/${name}.js`) as Promise<typeof import('dynalite/actions/*.js')>,
        import(`dynalite/validations/${name}.js`) as Promise<typeof import('dynalite/validations/*.js')>,
      ]);
      return [name.replace(/^./, (first) => first.toUpperCase()), { action, rules }] as const;
    }),
  ),
);

/**
 * Carries out a request of DynamoDB's API.
 *
 * @param target - the header `X-Amz-Target`
 * @returns the response. What the engine lacks, and a bug of it, is a 500, which the SDK reports with its message
 * @throws when the store fails
 */
export async function carryOut(store: Store, target: string, body: Buffer): Promise<EngineResponse> {
  try {
    const request = JSON.parse(body.toString());
    const name = target.replace(/^DynamoDB_20120810\./, '');
    if (name === 'TransactWriteItems') return await putAll(store, request);
    const operation = operations.get(name);
    if (operation === undefined) throw new Error(`the embedded engine has no ${name}`);
    const { action, rules } = operation;
    const valid = validate(store, request, rules);
    return { status: 200, body: await call<object>((done) => action(store, valid, done)) };
  } catch (error) {
    const { code = '', message, statusCode, body } = error as NodeJS.ErrnoException & Partial<EngineError>;
    if (statusCode !== undefined && body !== undefined) return { status: statusCode, body };
    // The codes of the store and of the system. Node's own begin with ERR_.
    if (/^LEVEL_|^E[A-Z]+$/.test(code)) throw error;
    return { status: 500, body: { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message } };
  }
}
