import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { judge } from '../mutation/judge.ts';
import { messageReason } from '../mutation/message-plugin.ts';
import type { Reason } from '../mutation/reasons.ts';

const file = 'lib/require-token.ts';
const source = readFileSync(file, 'utf8').split('\n');

/** The result of a mutant that replaces this code, the first in its line. */
function resultOf(status: string, code = '!token', replacement = 'false') {
  const line = source.findIndex((text) => text.includes(code)) + 1;
  const column = (source[line - 1] ?? '').indexOf(code) + 1;
  const location = { start: { line, column }, end: { line, column: column + code.length } };
  return { fileName: `${process.cwd()}/${file}`, status, replacement, location };
}

const expectations = { files: [file], isComplete: false, reasons: [] };
const change = `${file}\n  - !token\n  + false`;
const reason: Reason = { file, code: '!token', mutants: ['false'], reason: 'An example' };

test.each(['Survived', 'NoCoverage'])(
  'a mutant that ends with %s fails the run, unless it has its reason',
  (status) => {
    const results = [resultOf(status), resultOf('Killed', '-1')];

    const line = resultOf(status).location.start.line;
    expect(judge(results, expectations).problems).toEqual([`${status} at line ${line}: ${change}`]);
    expect(judge(results, { ...expectations, reasons: [reason] })).toEqual({
      counts: [`${file}: 2 mutants, 1 live, 0 without a reason`, 'All: 2 mutants, 1 live, 0 without a reason'],
      problems: [],
    });
  },
);

test('a reason fails the run when its mutant is killed, or gone, and not when its tests took too long', () => {
  const problem = `The list has a reason, but the mutant is killed or gone: ${change}`;
  for (const results of [[resultOf('Killed')], []]) {
    expect(judge(results, { ...expectations, reasons: [reason] }).problems).toEqual([problem]);
  }
  expect(judge([], { ...expectations, files: [], reasons: [reason] }).problems).toEqual([]);
  expect(judge([resultOf('Timeout')], { ...expectations, reasons: [reason] }).problems).toEqual([]);
});

test('in a run of all files, at most 3 % of the mutants have a reason, and the plugin leaves out messages', () => {
  const message = { ...resultOf('Ignored'), statusReason: messageReason };
  const killed = (count: number) => Array.from({ length: count }, () => resultOf('Killed', '-1'));
  const complete = { ...expectations, isComplete: true, reasons: [reason] };

  expect(judge([message, resultOf('Survived'), ...killed(33)], complete).problems).toEqual([]);
  expect(judge([resultOf('Survived'), ...killed(32)], complete).problems).toEqual([
    'More than 3 % of the mutants have a reason.',
    'The plugin leaves out no message any more.',
  ]);
});
