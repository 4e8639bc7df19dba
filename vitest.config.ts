import { configDefaults, defineConfig, type UserWorkspaceConfig } from 'vitest/config';
import type { Reporter, TestModule } from 'vitest/node';

if (/[#?]|%[0-9a-f]{2}/i.test(process.cwd())) {
  console.error(`Vite loads nothing from a path with #, ? or %20: move ${process.cwd()} to another folder.`);
  process.exit(1);
}

/** Ends a run with why tests were skipped, and a line that `.ci/run` adds up. A file that cannot be loaded is one failed test. */
const printTotals: Reporter = {
  onTestRunEnd(files: readonly TestModule[]) {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const file of files) {
      const tests = [...file.children.allTests()].map((test) => ({ name: test.fullName, ...test.result() }));
      for (const test of tests) {
        count[test.state] += 1;
        if (test.state === 'skipped') console.log(`Skipped: ${test.name}${test.note ? ` (${test.note})` : ''}`);
      }
      if (file.state() === 'failed' && !tests.some(({ state }) => state === 'failed')) count.failed += 1;
    }
    console.log(`${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped`);
  },
};

export default defineConfig({
  test: {
    reporters: [...configDefaults.reporters, printTotals],
    // A service under test leaves a core idle while it waits; by default only one test file would run.
    maxWorkers: 2,
    // The access key of the tests' engines and clients. A developer's own stays out of the tests.
    env: { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', AWS_SESSION_TOKEN: '', AWS_PROFILE: '' },
    // What a test waits for may take long on a busy machine. The default is a second.
    expect: { poll: { timeout: 60_000 } },
    // Before each test.
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      // `npm test`
      // To load its modules anew for each file would take half of its time.
      project('unit', 'test/unit', 0, { isolate: false, maxWorkers: 3 }),
      // Two tests that wait leave room for a third.
      project('integration', 'test/integration', 0, { maxWorkers: 3 }),
      project('conformance', 'test/conformance', 0, { maxWorkers: 3 }),
      // `npm run test:slow`
      project('local', 'test/local', 1),
      project('tools', 'test/tools', 1),
      project('search', 'test/reliability/search', 1),
      project('template', 'test/aws/template', 1, { globalSetup: './test/aws/template/packaged-stages.ts' }),
      project('faults', 'test/reliability/faults', 1),
      // Ten rounds, with a start of the service in each.
      project('crash', 'test/reliability/crash', 1, { testTimeout: 900_000 }),
      project('load', 'test/reliability/load', 2),
      project('runtime', 'test/aws/runtime', 3, { globalSetup: './test/aws/runtime/package-functions.ts' }),
    ],
  },
});

/**
 * The tests of a folder. Groups run one after the other, the projects of a group at the same time. The time limit has room
 * for a busy machine.
 */
function project(name: string, folder: string, groupOrder: number, options: UserWorkspaceConfig['test'] = {}) {
  const { testTimeout = 120_000 } = options;
  const limits = { testTimeout, hookTimeout: 2 * testTimeout };
  const include = [`${folder}/**/*.test.ts`];
  return { extends: true as const, test: { name, include, ...limits, sequence: { groupOrder }, ...options } };
}
