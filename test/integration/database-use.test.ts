import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenSigner } from '../../lib/auth/token.ts';
import { type Engine, startEngine } from '../simulators/engine.ts';
import {
  capacityOf,
  coldStartCheck,
  type MeteringProxy,
  startMeteringProxy,
} from '../simulators/metering-proxy.ts';
import { createBookTable, seedBooks } from '../support/book-table.ts';
import { captureLog } from '../support/captured-log.ts';
import { type Call, loadHandlers, settings } from '../support/load-handlers.ts';

/** Functions that check the table when they start; all but the token's. */
const functionsWithTable = 5;

const bookCount = 1_000;

let engine: Engine;
let proxy: MeteringProxy;
let call: Call;
let headers: Record<string, string>;

beforeAll(async () => {
  captureLog();
  engine = await startEngine();
  const table = await createBookTable(engine.endpoint);
  await seedBooks(table, bookCount);
  proxy = await startMeteringProxy(engine.endpoint);
  call = await loadHandlers(`${proxy.endpoint}/${table.tableName}`);
  headers = { Authorization: await createTokenSigner(settings.SECRET_TOKEN)() };
});

afterAll(async () => {
  await proxy.stop();
  await engine.stop();
});

/** In this order, on books that are there. */
const requests = [
  { route: 'GET /books', path: '/books' },
  { route: 'GET /book/{id}', path: '/book/1' },
  { route: 'PUT /book/{id}', path: '/book/1', body: '{"title":"Emma","year":1815}' },
  { route: 'DELETE /book/{id}', path: '/book/1' },
  { route: 'POST /book', path: '/book', body: '{"title":"Emma","author":"Jane Austen","year":1815}' },
] as const;

describe('what is asked of DynamoDB', () => {
  test('the start of each function is one read', () => {
    expect(proxy.takeSum()).toEqual({
      requests: functionsWithTable * coldStartCheck.requests,
      readUnits: functionsWithTable * coldStartCheck.readUnits,
      writeUnits: 0,
    });
  });

  test.each(requests)('$route takes no more requests and units than it has to', async (request) => {
    const [method = ''] = request.route.split(' ');
    const body = 'body' in request ? request.body : null;

    const { status } = await call(method, request.path, { headers, body });

    expect(status).toBeLessThan(300);
    expect(proxy.takeSum()).toEqual(capacityOf[request.route]);
  });

  test('POST /token asks for nothing', async () => {
    const body = JSON.stringify({ username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD });

    const { status } = await call('POST', '/token', { body });

    expect(status).toBe(200);
    expect(proxy.takeSum()).toEqual(capacityOf['POST /token']);
  });
});
