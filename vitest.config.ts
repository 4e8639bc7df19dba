import { defineConfig } from 'vitest/config';

/** The SDK asks for credentials, which the embedded engine does not check; a developer's own stay out of the tests. */
const env = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };

export default defineConfig({
  test: {
    // A service under test leaves a core idle while it waits; by default only one test file would run.
    maxWorkers: 2,
    projects: [
      {
        // Room for thousands of cases of a property on a busy machine.
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], env, testTimeout: 30_000 },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          env,
          // Room for the client's time limits and for the engine on a busy machine.
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          env,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'model', include: ['test/reliability/model/**/*.test.ts'], env, hookTimeout: 30_000 } },
      {
        test: {
          name: 'template',
          include: ['test/aws/template/**/*.test.ts'],
          globalSetup: './test/aws/template/packaged-stages.ts',
          env,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'local',
          include: ['test/local/**/*.test.ts'],
          env,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['lib/**/*.ts', 'handlers/**/*.ts', 'serverless/local/**/*.ts'],
      reporter: ['text-summary', 'html'],
      reportsDirectory: 'coverage',
    },
  },
});
