/**
 * `npm run test:mutation`: StrykerJS changes lib/ and handlers/ in one place at a time, and runs the tests that reach the
 * place. Each change has to fail a test. A comment beside the code says why no test can tell a change apart.
 */

import { readFileSync } from 'node:fs';

export default {
  mutate: ['lib/**/*.ts', 'handlers/*.ts'],
  thresholds: { break: 100 },
  testRunner: 'vitest',
  // Tests load handlers by computed paths, which the search for related tests does not follow.
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  // A test that waits leaves a core to others. Two processes a core slow each other down, so that time limits need room.
  concurrency: 4,
  timeoutFactor: 2.5,
  timeoutMS: 30_000,
  // The first run of all tests, which takes longer than the default of 5 minutes on a busy machine.
  dryRunTimeoutMinutes: 60,
  appendPlugins: ['./test/mutation/messages.js'],
  ignorers: ['messages'],
  incremental: true,
  incrementalFile: '.mutation/incremental.json',
  tempDirName: '.mutation/sandboxes',
  cleanTempDir: 'always',
  ignorePatterns: readFileSync('.gitignore', 'utf8').split('\n').filter(Boolean),
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { reportTests: false },
  // Node runs TypeScript as it is. StrykerJS would read tsconfig.json with a function that TypeScript 7 does not have.
  disableTypeChecks: false,
  tsconfigFile: 'none',
};
