import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** More, and `npm run` is no overview any longer. */
const maxScripts = 20;

const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);
const contributing = readFileSync('CONTRIBUTING.md', 'utf8');

test(`there are at most ${maxScripts} npm scripts`, () => {
  expect(scripts.length).toBeLessThanOrEqual(maxScripts);
});

test.each(scripts)('CONTRIBUTING.md says in a line what the script %s does', (script) => {
  const command = ['start', 'test'].includes(script) ? `npm ${script}` : `npm run ${script}`;
  const lines = contributing.split('\n').filter((line) => line.startsWith('| `npm'));
  expect(lines.filter((line) => new RegExp(`\`${command}( |\`)`).test(line))).not.toEqual([]);
});

test('CONTRIBUTING.md names no script that does not exist', () => {
  const named = [...contributing.matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, script]) => script);
  expect(named.filter((script) => !scripts.includes(script ?? ''))).toEqual([]);
});
