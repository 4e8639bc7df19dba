import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import dynalite from 'dynalite';
import db, { type Store } from 'dynalite/db/index.js';
import * as putItem from 'dynalite/validations/putItem.js';
import * as updateItem from 'dynalite/validations/updateItem.js';
import pLimit from 'p-limit';
import { isTransaction, transactWriteItems } from './transactions.ts';

// dynalite ignores this parameter (its issue 182), and returns no item that refuses a write.
const returnValues = 'ReturnValuesOnConditionCheckFailure';
for (const { types } of [putItem, updateItem]) types[returnValues] = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
const { checkConditional } = db;
db.checkConditional = (request, stored) => {
  const refusal = checkConditional(request, stored);
  if (refusal && request[returnValues] === 'ALL_OLD') refusal.body.Item = stored;
  return refusal;
};

/**
 * Makes a DynamoDB engine behind an HTTP server that does not listen yet: dynalite, with transactions.
 *
 * @param path - the folder of its data, which is in memory without it
 * @throws when the folder cannot be opened, which dynalite would report at the first operation only
 */
export async function createEngine(path?: string): Promise<Server> {
  // dynalite does not return its store, which transactions need.
  const { create } = db;
  let store: Store | undefined;
  db.create = (options) => {
    store = create(options);
    return store;
  };
  const server = dynalite({ createTableMs: 0, ...(path !== undefined && { path }) });
  db.create = create;

  const [handle] = server.listeners('request') as RequestListener[];
  if (store === undefined || handle === undefined) throw new Error('dynalite has changed: no store or no listener');
  const level = store.db;
  await level.open().catch((error) => {
    throw error.cause ?? error;
  });
  // Reads are synchronous: another thread, which dynalite would use, takes ten times as long as the read.
  level.get = (key, done) => {
    let value: unknown;
    try {
      value = level.getSync(key);
    } catch (error) {
      return done(error as Error);
    }
    done(null, value);
  };
  const transact = transactWriteItems(store);
  server.removeAllListeners('request');
  // One request at a time. All at once would take the same time together, and clients would give all of them up.
  const inTurn = pLimit(1);
  return server.on('request', (request, response) =>
    inTurn(async () => {
      // In this turn of the event loop, connections that clients have closed are noticed.
      await setImmediate();
      if (response.destroyed) return;
      const closed = once(response, 'close');
      (isTransaction(request) ? transact : handle)(request, response);
      await closed;
    }),
  );
}
