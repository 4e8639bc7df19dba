import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import db, { type EngineError, type Item, type Store } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import * as putItem from 'dynalite/validations/putItem.js';

/** "TransactWriteItems": actions of one transaction. */
const maxActions = 100;

type Put = {
  readonly TableName: string;
  readonly Item: Item;
  readonly ReturnValuesOnConditionCheckFailure?: string;
};
const putTypes = {
  ...putItem.types,
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};

type Response = { readonly status: number; readonly body: object };

/** Whether a request is one that {@link transactWriteItems} handles. */
export function isTransaction({ headers }: { readonly headers: NodeJS.Dict<string | string[]> }): boolean {
  return headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems';
}

/**
 * TransactWriteItems of Put actions on one table, which dynalite lacks (Amazon DynamoDB API Reference, "TransactWriteItems").
 * It uses dynalite's own validation, conditions and locks of items; one batch of the store makes it atomic, also when the
 * process is killed. `ClientRequestToken` has no effect.
 */
export function transactWriteItems(store: Store): RequestListener {
  return async (request, outgoing) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return; // the client has gone
    const response = await write(store, body).catch((error: Partial<EngineError>): Response => {
      if (error.statusCode === undefined || error.body === undefined) throw error;
      return { status: error.statusCode, body: error.body };
    });
    const json = JSON.stringify(response.body);
    outgoing.writeHead(response.status, {
      'x-amzn-RequestId': randomUUID(),
      'x-amz-crc32': crc32(json),
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(json),
    });
    outgoing.end(json);
  };
}

async function write(store: Store, body: string): Promise<Response> {
  let request: { readonly TransactItems?: unknown } | null;
  try {
    request = JSON.parse(body);
  } catch {
    return { status: 400, body: { __type: 'com.amazon.coral.service#SerializationException' } };
  }
  return putAll(store, validate(store, request?.TransactItems));
}

/** @throws {EngineError} like DynamoDB's ValidationException */
function validate(store: Store, actions: unknown): readonly Put[] {
  if (!Array.isArray(actions) || actions.length < 1 || actions.length > maxActions) {
    throw db.validationError(`TransactItems must have 1 to ${maxActions} members`);
  }
  const puts = actions.map((action) => {
    if (!action?.Put) throw db.validationError('This engine supports no other action than Put');
    const put = validations.checkTypes(action.Put, putTypes) as Put;
    validations.checkValidations(put, putTypes, putItem.custom, store);
    return put;
  });
  if (puts.some(({ TableName }) => TableName !== puts[0]?.TableName)) {
    throw db.validationError('This engine supports transactions on one table only');
  }
  return puts;
}

async function putAll(store: Store, puts: readonly Put[]): Promise<Response> {
  const name = String(puts[0]?.TableName);
  const table = await call<object>((done) => store.getTable(name, done));
  const items = store.getItemDb(name);
  const operations = puts.map(({ Item: value }) => {
    const invalid = db.validateItem(value, table);
    if (invalid) throw invalid;
    return { type: 'put' as const, key: db.createKey(value, table), value };
  });
  const keys = operations.map(({ key }) => key);
  if (new Set(keys).size < keys.length) {
    throw db.validationError('Transaction request cannot include multiple operations on one item');
  }
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

/** The reason for which a put cancels its transaction, or that it does not. */
function reasonOf(put: Put, stored: Item | undefined) {
  const failure = db.checkConditional(put, stored);
  if (failure == null) return { Code: 'None' };
  const item = put.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && { Item: stored };
  return { Code: 'ConditionalCheckFailed', Message: failure.message, ...item };
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

/** Calls a function of dynalite, which takes a callback. */
function call<Value>(start: (done: (error?: unknown, value?: Value) => void) => void): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  start((error, value) => (error ? reject(error) : resolve(value as Value)));
  return promise;
}
