import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { defaultCredentials } from '../support/local-service.ts';
import { useLocalService } from '../support/use-local-service.ts';

const { baseUrl, service } = await useLocalService(defaultCredentials);

// The session in docs/api.md begins with an empty catalog, and the others follow it. `-u` writes other outputs into the documents.
test('the documents show the output of their commands in order, and the commands leave no file in the repository', async () => {
  const documents = await Promise.all(
    ['README.md', 'docs/api.md', ...globSync('tools/*/README.md')].map(async (name) => ({
      name,
      text: await readFile(name, 'utf8'),
    })),
  );
  const commands = documents.flatMap(({ text }) => Array.from(text.matchAll(examples), ([, command = '']) => command));
  const script = commands.map((command) => `${command}\necho; echo '${separator}'\n`).join('');
  const before = await untrackedFiles();

  const { stdout } = await run('bash', [
    '-c',
    `exec 2>&1; unset BOOKS_USERNAME BOOKS_PASSWORD\n${script.replaceAll('http://localhost:8080', baseUrl).replaceAll('/tmp/', `${service.dataFolder}/`)}`,
  ]);

  const outputs = stdout.split(`${separator}\n`);
  expect(commands.length).toBeGreaterThan(10);
  for (const { name, text } of documents) {
    const printed = text.replaceAll(examples, (example, command, shown) => {
      const output = outputs.shift();
      if (withoutChance(output) === withoutChance(shown.replaceAll(/^ {4}/gm, ''))) return example;
      const lines = output?.replaceAll('\r', '').trim().split('\n') ?? [];
      return `    $ ${command}\n${lines.map((line) => `    ${line}\n`).join('')}`;
    });
    await expect(printed).toMatchFileSnapshot(resolve(name));
  }
  expect(await untrackedFiles()).toBe(before);
});

const run = promisify(execFile);

/** No command prints it. */
const separator = '=== the next command';

/** Indented lines that begin with a dollar sign are commands; those that follow are what they print. */
const examples = /^ {4}\$ (.*)\n((?: {4}(?!\$ ).*\n)*)/gm;

/** @returns the text without durations and the part of a token that the documents omit, which differ each time */
function withoutChance(text = ''): string {
  return text
    .replaceAll('\r', '')
    .replaceAll(/(eyJhbGciOiJIUzI1NiIsInR5cCI6)[^"]*/g, '$1')
    .replaceAll(/in [\d.]+ s \(\d+\/s\)/g, 'in T s (N/s)')
    .trim();
}

const untrackedFiles = async () => (await run('git', ['status', '--porcelain', '--untracked-files=all'])).stdout;
