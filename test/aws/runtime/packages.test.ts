import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { functions } from '../../../serverless/packaging/package-service.ts';
import { packageFunctions } from '../../../tools/runtime/package-functions.ts';
import { sizeOfFiles } from '../../../tools/runtime/size-of-files.ts';
import { useTables } from '../../support/fixtures.ts';
import { startFunction } from './start-function.ts';

/** Bytes that an instance reads in its cold start (docs/benchmarks.md): minified code, and its V8 code cache. */
const withSdk = { code: 240_000, cache: 560_000 };
const withoutSdk = { code: 33_000, cache: 48_000 };

const { open } = useTables();
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = (await open()).url;
});

describe.each(functions)('the package of $name', ({ name, nodeOptions: lambdaOptions }) => {
  /** @returns the log of an instance's INIT phase */
  const initialize = async (nodeOptions: string): Promise<string> => {
    const instance = await startFunction(name, { DB_URL: databaseUrl, NODE_OPTIONS: nodeOptions });
    try {
      await instance.api.initialized;
      return instance.output;
    } finally {
      await instance.stop();
    }
  };

  test.each(['', '--expose-gc', lambdaOptions])(
    'has a code cache that a Node with the options "%s" uses',
    async (nodeOptions) => {
      expect(await initialize(nodeOptions)).toBe('');
    },
  );

  test('starts without its code cache on an incompatible Node, with a line in the log', async () => {
    const output = await initialize('--stack-trace-limit=20');

    expect(output).toContain(`The code cache is not for Node ${process.version}`);
  });

  test('is small', async () => {
    const { code, cache } = name === 'createToken' ? withoutSdk : withSdk;
    const folder = join(inject('functionsFolder'), name, 'handlers');

    expect(await sizeOfFiles(folder, /\.m?js$/)).toBeLessThanOrEqual(code);
    expect(await sizeOfFiles(folder, /\.cache$/)).toBeLessThanOrEqual(cache);
    expect(await sizeOfFiles(folder, /\.gc-cache$/)).toBeLessThanOrEqual(cache);
  });
});

describe('repeated packages', () => {
  let again: string;

  beforeAll(async () => {
    again = await mkdtemp(join(tmpdir(), 'book-catalog-functions-'));
    await packageFunctions(again);
  });
  afterAll(() => rm(again, { recursive: true, force: true }));

  test.each(functions)('are equal, byte for byte: $name', async ({ name }) => {
    const zip = (folder: string) => readFile(join(folder, 'package', `${name}.zip`));
    expect((await zip(again)).equals(await zip(inject('functionsFolder')))).toBe(true);
  });
});
