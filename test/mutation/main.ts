/**
 * `npm run test:mutation`: StrykerJS changes lib/ and handlers/ in one place at a time, and runs the tests that reach the
 * place. Each change has to fail a test, or to have its reason in reasons.ts. Arguments:
 *
 *     npm run test:mutation                   all files
 *     npm run test:mutation -- lib/log.ts     these files
 *     npm run test:mutation -- --changed      the files that this branch changes, or else the last commit
 *     npm run test:mutation -- --force        without the results of earlier runs, which are in .mutation/
 *
 * A mutant that was killed is not run again until it or the file of its test changes. Changes of what a test imports are not
 * noticed.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { endForMissingTool } from '../support/missing-tool.ts';
import { judge, type MutantResult } from './judge.ts';
import { reasons } from './reasons.ts';
import { divide, sourceFiles } from './suites.ts';

/** A file takes up to five minutes, and `.ci/run` has to end. */
const maxChangedFiles = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { changed: { type: 'boolean' }, force: { type: 'boolean', default: false } },
});
const files = values.changed ? findChangedFiles() : positionals.length > 0 ? positionals : sourceFiles;
const unknown = files.filter((file) => !sourceFiles.includes(file));
if (unknown.length > 0) throw new Error(`not files of lib/ or handlers/: ${unknown.join(', ')}`);

const tools = createRequire(resolve('tools/package.json'));
const { Stryker } = await import(pathToFileURL(tools.resolve('@stryker-mutator/core')).href);
const results: MutantResult[] = [];
for (const { name, sources, tests } of divide(files)) {
  process.env.MUTATION_TESTS = tests.join(',');
  const incrementalFile = `.mutation/${name}.json`;
  keepKilled(incrementalFile);
  const stryker = new Stryker({
    plugins: [tools.resolve('@stryker-mutator/vitest-runner'), resolve('test/mutation/message-plugin.ts')],
    ignorers: ['messages'],
    mutate: sources,
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: 2,
    // On top of one and a half times what the tests took without a mutant.
    timeoutMS: 120_000,
    incremental: true,
    force: values.force,
    incrementalFile,
    tempDirName: '.mutation/sandboxes',
    cleanTempDir: 'always',
    ignorePatterns: readFileSync('.gitignore', 'utf8').split('\n').filter(Boolean),
    reporters: ['progress-append-only'],
    // Node runs TypeScript as it is. StrykerJS would read tsconfig.json with a function that TypeScript 7 does not have.
    disableTypeChecks: false,
    tsconfigFile: 'none',
  });
  results.push(...(await stryker.runMutationTest()));
}
const isComplete = sourceFiles.every((file) => files.includes(file));
const { counts, problems } = judge(results, { files, isComplete, reasons });
console.log([...problems, counts.join('\n')].join('\n\n'));
process.exitCode = problems.length > 0 ? 1 : 0;

/** StrykerJS would not run a mutant of module level again that has survived, even if a new test kills it. */
function keepKilled(resultsFile: string): void {
  if (!existsSync(resultsFile)) return;
  const report = JSON.parse(readFileSync(resultsFile, 'utf8'));
  for (const file of Object.values<{ mutants: { readonly status: string }[] }>(report.files)) {
    file.mutants = file.mutants.filter(({ status }) => status === 'Killed');
  }
  writeFileSync(resultsFile, JSON.stringify(report));
}

/** @returns the source files with the most changed lines since the branch left main; on main, those of the last commit */
function findChangedFiles(): readonly string[] {
  const [head, fork] = [git('rev-parse', 'HEAD'), git('merge-base', 'HEAD', 'origin/main')];
  const base = fork === '' || fork === head ? 'HEAD^' : fork;
  if (git('rev-parse', '--verify', base) === '') endForMissingTool(`Not tested: this clone does not have ${base}.`);
  const lines = git('diff', '--numstat', '--no-renames', base).split('\n');
  const changes = lines.map((line) => line.split('\t')).filter(([, , file = '']) => sourceFiles.includes(file));
  const changed = changes
    .toSorted(([added, removed], [otherAdded, otherRemoved]) => {
      return Number(otherAdded) + Number(otherRemoved) - Number(added) - Number(removed);
    })
    .map(([, , file = '']) => file);
  const left = changed.splice(maxChangedFiles);
  if (left.length > 0) console.log(`Left to a run of all files: ${left.join(', ')}`);
  return changed;
}

/** @returns what git prints, nothing when it fails */
function git(...args: readonly string[]): string {
  return spawnSync('git', args, { encoding: 'utf8' }).stdout.trim();
}
