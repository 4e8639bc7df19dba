import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each([
  ['--help', 0, /^Usage: npm run bench /],
  ['--ful', 2, /^Unknown option '--ful'/],
  ['--against /nowhere', 2, /^\/nowhere is not a checkout with its packages installed\n/],
  ['gard', 2, /^There is no command gard\n/],
])('npm run bench -- %s ends before it measures', (options, code, text) => {
  const args = ['tools/bench/main.ts', ...options.split(' ')];

  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });

  expect([status, stdout + stderr]).toEqual([code, expect.stringMatching(text)]);
});
