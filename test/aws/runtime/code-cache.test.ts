import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Engine, startEngine } from '../../simulators/engine.ts';
import { type BookTable, createBookTable } from '../../support/book-table.ts';
import { listNodeOptions } from '../../support/package-service.ts';
import { routes } from './gateway.ts';
import { LambdaInstance } from './lambda-instance.ts';
import { packageFunctions } from './package-functions.ts';

let engine: Engine;
let table: BookTable;

beforeAll(async () => {
  engine = await startEngine();
  table = await createBookTable(engine.endpoint);
});

afterAll(() => engine.stop());

/** Starts a function and stops it after its INIT phase. */
const initialize = async (
  { name, handler }: (typeof routes)[number],
  nodeOptions: string,
): Promise<string> => {
  const instance = await LambdaInstance.start(
    join(inject('functionsFolder'), name),
    `handlers/${handler}.handler`,
    {
      SECRET_TOKEN: 'a secret that only these tests know and nothing else',
      AUTH_USERNAME: 'librarian',
      AUTH_PASSWORD: 'a password',
      DB_URL: table.url,
      NODE_OPTIONS: nodeOptions,
    },
  );
  try {
    await instance.api.initialized;
    return instance.output;
  } finally {
    await instance.stop();
  }
};

describe.each(routes)('the code cache of $name', (route) => {
  test.each(['', '--expose-gc', listNodeOptions, `--expose-gc ${listNodeOptions}`])(
    'is used by a Node with the options "%s"',
    async (nodeOptions) => {
      expect(await initialize(route, nodeOptions)).toBe('');
    },
  );

  test('is left aside, which the log tells, by a Node that compiles in another way', async () => {
    const output = await initialize(route, '--stack-trace-limit=20');

    expect(output).toContain(`The code cache is not for Node ${process.version}`);
  });
});

test('packages with code caches are the same, byte for byte, when they are made again', async () => {
  const again = await mkdtemp(join(tmpdir(), 'book-catalog-functions-'));
  try {
    await packageFunctions(again);

    for (const { name } of routes) {
      const zip = (folder: string) => readFile(join(folder, 'package', `${name}.zip`));
      expect((await zip(again)).equals(await zip(inject('functionsFolder')))).toBe(true);
    }
  } finally {
    await rm(again, { recursive: true, force: true });
  }
});
