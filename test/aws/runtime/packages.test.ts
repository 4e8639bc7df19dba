import { cp, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { functions } from '../../../serverless/packaging/package-service.ts';
import { packageFunctions } from '../../../tools/runtime/package-functions.ts';
import { toHttpResponse } from '../../../tools/runtime/runtime-api.ts';
import { sizeOfFiles } from '../../../tools/runtime/size-of-files.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { settings, startFunction } from './start-function.ts';

/** Bytes that an instance reads in its cold start (docs/benchmarks.md): minified code, and its V8 code cache. */
const withSdk = { code: 240_000, cache: 575_000 };
const withoutSdk = { code: 33_000, cache: 48_000 };

const { open } = await useTables();
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

describe('a package whose files are damaged', () => {
  let folder: string;
  const file = (extension: string) => join(folder, `createToken/handlers/create-token.bundle.${extension}`);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'book-catalog-functions-'));
    await cp(inject('functionsFolder'), folder, { recursive: true });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** @returns the message of a response, and the log */
  const requestToken = async () => {
    const instance = await startFunction('createToken', {}, folder);
    const body = JSON.stringify({ username: settings.AUTH_USERNAME, password: settings.AUTH_PASSWORD });
    try {
      const response = await toHttpResponse(await instance.api.invoke(createEvent({ body })));
      return { message: JSON.parse((await buffer(response.body)).toString()).message, log: instance.output };
    } finally {
      await instance.stop();
    }
  };

  const compiled = {
    message: 'Token generated successfully',
    log: expect.stringContaining('The code cache is not for this bundle'),
  };

  test.each<[string, (cache: string) => Promise<unknown>]>([
    ['is missing', (cache) => rm(cache)],
    ['is empty', (cache) => truncate(cache)],
    ['is cut off', (cache) => truncate(cache, 20_000)],
    ['is a folder', (cache) => rm(cache).then(() => mkdir(cache))],
  ])('compiles its code when the cache %s', async (_case, damage) => {
    await damage(file('gc-cache'));

    expect(await requestToken()).toEqual(compiled);
  });

  test('compiles its code when any one byte of the cache is another', async () => {
    const cache = await readFile(file('gc-cache'));
    for (let position = 0; position < cache.length; position += Math.ceil(cache.length / 8)) {
      await writeFile(file('gc-cache'), cache.with(position, (cache[position] ?? 0) ^ 1));
      expect(await requestToken()).toEqual(compiled);
    }
  });

  test('runs its own code when the cache is that of other code of the same length', async () => {
    const code = await readFile(file('js'), 'utf8');
    await writeFile(file('js'), code.replace('Token generated successfully', 'Other code of that length ok'));

    expect(await requestToken()).toEqual({ ...compiled, message: 'Other code of that length ok' });
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
