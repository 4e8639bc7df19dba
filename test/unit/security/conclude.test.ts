import { expect, test } from 'vitest';
import { conclude } from '../../../.ci/security/conclude.ts';

const clean = { found: [], notChecked: [] };
const unchecked = { found: [], notChecked: ['package-lock.json: known vulnerabilities (405)'] };
const dirty = { found: ['a: vulnerable: left (high)'], notChecked: [] };

test('only when everything was checked, nothing is found', () => {
  expect(conclude([clean, clean])).toEqual({ lines: ['Nothing found.'], exitCode: 0 });
});

test('what was not checked is said, and is not a success', () => {
  expect(conclude([clean, unchecked])).toEqual({
    lines: ['NOT checked: package-lock.json: known vulnerabilities (405)', 'Not everything was checked.'],
    exitCode: 77,
  });
});

test('a finding counts for more than what was not checked', () => {
  expect(conclude([unchecked, dirty])).toEqual({
    lines: [
      'a: vulnerable: left (high)',
      'NOT checked: package-lock.json: known vulnerabilities (405)',
      '1 found.',
    ],
    exitCode: 1,
  });
});
