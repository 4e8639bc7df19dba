/**
 * All that reaches into dynalite, because dynalite 4 lacks it:
 *
 * - It opens its store at the first operation, and reports no error before: {@link openStore}.
 * - It reads in another thread, which takes ten times as long as the read: {@link openStore}.
 * - An error in an operation leaves the operation's locks for ever: {@link openStore}.
 * - An error while it reads a list ends the process, and a list that is not read to its end stays in memory:
 *   {@link streamAll}.
 * - It does not return the item that refuses a write (its issue 182): `checkConditional` below.
 * - It has no transactions: {@link putAll}.
 */

import { Stream } from 'node:stream';
import db, { type Item, type Store } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import * as putItem from 'dynalite/validations/putItem.js';
import * as updateItem from 'dynalite/validations/updateItem.js';

interface Put {
  readonly TableName: string;
  readonly Item: Item;
}

export interface EngineResponse {
  readonly status: number;
  readonly body: object;
}

const returnValues = 'ReturnValuesOnConditionCheckFailure';
for (const { types } of [putItem, updateItem]) types[returnValues] = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
const { checkConditional } = db;
db.checkConditional = (request, stored) => {
  const refusal = checkConditional(request, stored);
  if (refusal && request[returnValues] === 'ALL_OLD') refusal.body.Item = stored;
  return refusal;
};

/**
 * Opens the store of an engine that carries out one request at a time.
 *
 * @param path - the folder of its data; without it, the data is in memory
 * @throws when the folder cannot be opened
 */
export async function openStore(path: string | undefined): Promise<Store> {
  const store = db.create({ createTableMs: 0, ...(path !== undefined && { path }) });
  await store.db.open().catch((error) => {
    throw error.cause ?? error;
  });
  store.db.get = (key, done) => {
    let value: unknown;
    try {
      value = store.db.getSync(key);
    } catch (error) {
      return done(error as Error);
    }
    done(null, value);
  };
  store.db.createValueStream = (range) => streamAll(store.db.values(range));
  // One request at a time needs no locks.
  const lock: Store['tableDb']['lock'] = (_keys, run) => run((done) => done);
  store.tableDb.lock = lock;
  const { getItemDb } = store;
  store.getItemDb = (name) => Object.assign(getItemDb(name), { lock });
  return store;
}

/**
 * Makes a stream that dynalite can read. An error in a listener becomes an error of the stream, which ends the operation.
 * The iterator is always closed.
 */
function streamAll(values: AsyncIterable<unknown>): Stream & { destroy(): void } {
  let isRead = true;
  const stream = Object.assign(new Stream(), {
    destroy() {
      isRead = false;
    },
  });
  const emitAll = async () => {
    for await (const value of values) {
      stream.emit('data', value);
      if (!isRead) return;
    }
    stream.emit('end');
  };
  emitAll().catch((error) => stream.emit('error', error));
  return stream;
}

/**
 * Validates a request, and parses its expressions.
 *
 * @throws {EngineError} when it is not valid
 */
export function validate(
  store: Store,
  request: object,
  { types, custom }: Pick<typeof putItem, 'types' | 'custom'>,
): object {
  const checked = validations.checkTypes(request, types);
  validations.checkValidations(checked, types, custom, store);
  return checked;
}

/**
 * Carries out a TransactWriteItems as the service sends it, with Put actions on items of one table (Amazon DynamoDB API
 * Reference, "TransactWriteItems"). `ClientRequestToken` has no effect.
 *
 * Validation and conditions are dynalite's own. One batch of the store makes a transaction atomic, even when the process
 * is killed. No other request may run at the same time.
 *
 * @throws {EngineError} when the request is not valid
 */
export async function putAll(
  store: Store,
  { TransactItems }: { readonly TransactItems: readonly { readonly Put?: object }[] },
): Promise<EngineResponse> {
  const puts = TransactItems.map(({ Put }) => {
    if (!Put) throw db.validationError('This engine supports no other action than Put');
    return validate(store, { ...Put }, putItem) as Put; // drops what PutItem does not have
  });
  const name = String(puts[0]?.TableName);
  const table = await call<object>((done) => store.getTable(name, done));
  const items = store.getItemDb(name);
  const operations = puts.map(({ Item: value }) => {
    const invalid = db.validateItem(value, table);
    if (invalid) throw invalid;
    return { type: 'put' as const, key: db.createKey(value, table), value };
  });
  const stored = await Promise.all(operations.map(({ key }) => call<Item | undefined>((done) => items.get(key, done))));
  const reasons = puts.map((put, index) => reasonOf(put, stored[index]));
  if (reasons.some(({ Code }) => Code !== 'None')) return cancelled(reasons);
  await call((written) => items.batch(operations, written));
  return { status: 200, body: {} };
}

/** Why a put cancels its transaction. The code `None` says that it does not. */
function reasonOf(put: Put, stored: Item | undefined) {
  const failure = db.checkConditional({ ...put }, stored);
  if (failure == null) return { Code: 'None' };
  return { Code: 'ConditionalCheckFailed', Message: failure.message, Item: failure.body.Item };
}

function cancelled(reasons: readonly { readonly Code: string }[]): EngineResponse {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  const type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException';
  return { status: 400, body: { __type: type, Message: message, CancellationReasons: reasons } };
}

/** Makes a promise of a call of dynalite, which takes callbacks. */
export function call<Value>(start: (done: (error?: unknown, value?: Value) => void) => void): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  start((error, value) => (error ? reject(error) : resolve(value as Value)));
  return promise;
}
