import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDataFolder, LocalService } from './local-service.ts';

const run = promisify(execFile);

/** Nothing that a command prints looks like it. */
const separator = '=== the next command';

let folder: string;
let service: LocalService;

beforeAll(async () => {
  folder = await createDataFolder();
  // As `npm start` without settings.
  service = await LocalService.start({
    DB_PATH: `${folder}/data`,
    AUTH_USERNAME: 'admin',
    AUTH_PASSWORD: 'password',
  });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('the commands in README.md, in their order, print what it shows, and leave no file in the repository', async () => {
  const here = (text: string) =>
    text.replaceAll('http://localhost:8080', service.baseUrl).replaceAll('/tmp/', `${folder}/`);
  const examples = readExamples(here(await readFile('README.md', 'utf8')));
  const before = await untrackedFiles();

  const script = examples.map(({ command }) => `${command}\necho; echo '${separator}'\n`).join('');
  const { stdout } = await run('bash', ['-c', `exec 2>&1\n${script}`]);

  const outputs = stdout.split(`${separator}\n`).slice(0, -1);
  expect(examples.length).toBeGreaterThan(10);
  expect(examples.map(({ command }, index) => `$ ${command}\n${withoutChance(outputs[index])}`)).toEqual(
    examples.map(({ command, output }) => `$ ${command}\n${withoutChance(output)}`),
  );
  expect(await untrackedFiles()).toBe(before);
});

interface Example {
  readonly command: string;
  readonly output: string;
}

/** Indented lines that begin with a dollar sign are commands; those that follow are what they print. */
function readExamples(markdown: string): Example[] {
  return [...markdown.matchAll(/^ {4}\$ (.*)\n((?: {4}(?!\$ ).*\n)*)/gm)].map(
    ([, command = '', output = '']) => ({
      command,
      output: output.replaceAll(/^ {4}/gm, ''),
    }),
  );
}

/** @returns the text without what differs each time: durations and the part of a token that README leaves out */
function withoutChance(text = ''): string {
  return text
    .replaceAll('\r', '')
    .replaceAll(/(eyJhbGciOiJIUzI1NiIsInR5cCI6)[^"]*/g, '$1')
    .replaceAll(/in [\d.]+ s \(\d+\/s\)/g, 'in T s (N/s)')
    .trim();
}

async function untrackedFiles(): Promise<string> {
  return (await run('git', ['status', '--porcelain', '--untracked-files=all'])).stdout;
}
