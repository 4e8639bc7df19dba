import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    env: { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    maxWorkers: 2,
    // Ten rounds with a start of the service in each, on a busy machine.
    testTimeout: 900_000,
    hookTimeout: 90_000,
  },
});
