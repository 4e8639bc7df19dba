import { afterAll, beforeAll, describe, inject, test } from 'vitest';
import { ConformanceContext } from '../../conformance/context.ts';
import { conformanceCases } from '../../conformance/suite.ts';
import { type Engine, startEngine } from '../../simulators/engine.ts';
import { type BookTable, createBookTable } from '../../support/book-table.ts';
import { Gateway } from './gateway.ts';

const settings = {
  SECRET_TOKEN: 'a secret that only these tests know and nothing else',
  AUTH_USERNAME: 'librarian',
  AUTH_PASSWORD: 'a password',
};

let engine: Engine;
let table: BookTable;
let gateway: Gateway;
let context: ConformanceContext;

beforeAll(async () => {
  engine = await startEngine();
  table = await createBookTable(engine.endpoint);
  gateway = await Gateway.start(inject('functionsFolder'), {
    ...settings,
    DB_URL: table.url,
  });
  context = ConformanceContext.create({
    baseUrl: gateway.baseUrl,
    username: settings.AUTH_USERNAME,
    password: settings.AUTH_PASSWORD,
    secret: settings.SECRET_TOKEN,
  });
});

afterAll(async () => {
  context.close();
  await gateway.stop();
  await engine.stop();
});

describe("the packaged functions conform under AWS's runtime client, with response streaming", () => {
  for (const { name, run } of conformanceCases) test(name, () => run(context));
});
