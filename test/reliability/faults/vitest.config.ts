import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    env: { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    maxWorkers: 2,
    // The longest time limit of a function, and room for a busy machine.
    testTimeout: 60_000,
    hookTimeout: 90_000,
  },
});
