import { expect, test } from 'vitest';
import { findForeignLicences } from '../../../.ci/security/licences.ts';

const locked = (license: unknown, marks = {}) => ({
  packages: { 'node_modules/@a/b': { license, ...marks } },
});

test.each(['MIT', 'Apache-2.0', '(MIT OR GPL-3.0-or-later)', '(MIT AND Zlib)', 'MIT OR Apache-2.0'])(
  'the licence %s may be deployed',
  (license) => {
    expect(findForeignLicences(locked(license), true)).toEqual([]);
  },
);

test.each([
  'GPL-3.0-only',
  'MPL-2.0',
  'MIT AND GPL-3.0-only',
  '(GPL-2.0 OR AGPL-3.0)',
  'UNLICENSED',
  '',
  null,
])('the licence %j may not be deployed', (license) => {
  expect(findForeignLicences(locked(license), true)).toEqual([`@a/b: ${JSON.stringify(license)}, deployed`]);
});

test('a package without a licence is found', () => {
  expect(findForeignLicences(locked(undefined), true)).toEqual(['@a/b: null, deployed']);
});

test.each([{ dev: true }, { devOptional: true }])(
  'a tool, marked by %j, may be under more licences',
  (marks) => {
    expect(findForeignLicences(locked('MPL-2.0', marks), true)).toEqual([]);
    expect(findForeignLicences(locked('AGPL-3.0', marks), true)).toEqual(['@a/b: "AGPL-3.0"']);
  },
);

test('where nothing is deployed everything is a tool, and the project itself is left out', () => {
  const lockFile = { packages: { '': {}, 'node_modules/a': { license: 'MPL-2.0' } } };

  expect(findForeignLicences(lockFile, false)).toEqual([]);
});
