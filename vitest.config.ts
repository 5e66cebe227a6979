import { defineConfig } from 'vitest/config';

// Real processes, sockets and SQLite files: one fork per file, no shared state between files.
export default defineConfig({
  test: {
    include: ['app/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
