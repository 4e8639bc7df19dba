import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    globalSetup: './package-functions.ts',
    env: { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    // Room for new instances on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
