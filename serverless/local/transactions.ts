import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import db, { type EngineError, type Item, type Store } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import * as putItem from 'dynalite/validations/putItem.js';

interface Put {
  readonly TableName: string;
  readonly Item: Item;
}
export type Transaction = { readonly TransactItems: readonly { readonly Put?: Put }[] };
type Response = { readonly status: number; readonly body: object };

/** Whether a request is one that {@link transactWriteItems} handles. */
export function isTransaction({ headers }: { readonly headers: NodeJS.Dict<string | string[]> }): boolean {
  return headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems';
}

/**
 * Makes what dynalite lacks: TransactWriteItems as the service sends it, with Put actions on items of one table (Amazon
 * DynamoDB API Reference, "TransactWriteItems"). `ClientRequestToken` has no effect.
 *
 * Validation, conditions and locks of items are dynalite's own. One batch of the store makes a transaction atomic, even
 * when the process is killed.
 */
export function transactWriteItems(store: Store): RequestListener {
  return async (request, outgoing) => {
    const transaction = await json(request).catch(() => undefined);
    if (transaction === undefined) return; // the client has gone
    const response = await putAll(store, transaction as Transaction).catch((error: Partial<EngineError>): Response => {
      if (error.statusCode === undefined || error.body === undefined) throw error;
      return { status: error.statusCode, body: error.body };
    });
    const text = JSON.stringify(response.body);
    outgoing.writeHead(response.status, {
      'x-amzn-RequestId': randomUUID(),
      'x-amz-crc32': crc32(text),
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(text),
    });
    outgoing.end(text);
  };
}

/** Puts all items or none. @throws {EngineError} like DynamoDB's ValidationException */
export async function putAll(store: Store, { TransactItems }: Transaction): Promise<Response> {
  const puts = TransactItems.map(({ Put }) => {
    if (!Put) throw db.validationError('This engine supports no other action than Put');
    const put = validations.checkTypes({ ...Put }, putItem.types) as Put; // drops what PutItem does not have
    validations.checkValidations(put, putItem.types, putItem.custom, store);
    return put;
  });
  const name = String(puts[0]?.TableName);
  const table = await call<object>((done) => store.getTable(name, done));
  const items = store.getItemDb(name);
  const operations = puts.map(({ Item: value }) => {
    const invalid = db.validateItem(value, table);
    if (invalid) throw invalid;
    return { type: 'put' as const, key: db.createKey(value, table), value };
  });
  const keys = operations.map(({ key }) => key);
  return call<Response>((done) =>
    items.lock(keys, async (release) => {
      const unlock = release(done);
      try {
        const stored = await Promise.all(keys.map((key) => find(items, key)));
        const reasons = puts.map((put, index) => reasonOf(put, stored[index]));
        if (reasons.some(({ Code }) => Code !== 'None')) return unlock(null, cancelled(reasons));
        await call((written) => items.batch(operations, written));
        unlock(null, { status: 200, body: {} });
      } catch (error) {
        unlock(error);
      }
    }),
  );
}

/** Why a put cancels its transaction. The code `None` says that it does not. */
function reasonOf(put: Put, stored: Item | undefined) {
  const failure = db.checkConditional({ ...put }, stored);
  if (failure == null) return { Code: 'None' };
  return { Code: 'ConditionalCheckFailed', Message: failure.message, Item: failure.body.Item };
}

function cancelled(reasons: readonly { readonly Code: string }[]): Response {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  const type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException';
  return { status: 400, body: { __type: type, Message: message, CancellationReasons: reasons } };
}

async function find(items: ReturnType<Store['getItemDb']>, key: string): Promise<Item | undefined> {
  return call<Item | undefined>((done) =>
    items.get(key, (error, item) => {
      if (error && error.name !== 'NotFoundError') done(error);
      else done(null, item);
    }),
  );
}

/** Makes a promise of a call of dynalite, which takes callbacks. */
export function call<Value>(start: (done: (error?: unknown, value?: Value) => void) => void): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  start((error, value) => (error ? reject(error) : resolve(value as Value)));
  return promise;
}
